// expect: cpu_quota
const spawn = (): void => {
  Promise.resolve().then(spawn);
};
spawn();
await new Promise(() => {});
