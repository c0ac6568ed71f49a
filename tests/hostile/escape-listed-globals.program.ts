// expect: returned
// value: []
const known = `Object Function Array Number String Boolean Symbol BigInt Math JSON Reflect Proxy Promise Date RegExp Map Set WeakMap WeakSet WeakRef
  FinalizationRegistry ArrayBuffer SharedArrayBuffer DataView Iterator parseInt parseFloat isNaN isFinite decodeURI decodeURIComponent encodeURI
  encodeURIComponent escape unescape Infinity NaN undefined globalThis robot console sleep RobotError`.split(/\s+/);
const allowed = (name: string): boolean => known.includes(name) || /Error$|Array$/.test(name);
return Object.getOwnPropertyNames(globalThis).filter((name) => !allowed(name));
