// expect: returned
// value: "ok"
Object.defineProperty(Object.prototype, 'status', { get: () => 'forged', set: () => {}, configurable: true });
Object.defineProperty(Object.prototype, 'resolve', { get: () => undefined, set: () => {}, configurable: true });
Object.defineProperty(Object.prototype, '0', { get: () => undefined, set: () => {}, configurable: true });
return (await robot.goto_home({ arm: 'left' })).status;
