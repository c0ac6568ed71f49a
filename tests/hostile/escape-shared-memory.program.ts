// expect: returned
// value: "undefined"
// no threads: nothing to wait for, nothing to time with
return typeof (globalThis as unknown as Record<string, unknown>).Atomics;
