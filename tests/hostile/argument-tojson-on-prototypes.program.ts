// expect: returned
// value: "ok"
// calls: 1
// no_argument: forged
for (const prototype of [Object.prototype, String.prototype, Number.prototype, Array.prototype]) {
  Object.defineProperty(prototype, 'toJSON', { value: () => 'forged', configurable: true });
}
return (await robot.goto_home({ arm: 'left' })).status;
