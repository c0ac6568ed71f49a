// expect: threw:TypeError
// line: 7
Object.defineProperty(Error.prototype, 'stack', { get: () => 'forged', configurable: true });
Object.defineProperty(Error.prototype, 'message', { get: () => 'forged', configurable: true });
globalThis.Error = class Fake {} as never;
const make = (): never => null!;
(make() as { f(): void }).f();
