// expect: deadlock
await new Promise(() => {});
