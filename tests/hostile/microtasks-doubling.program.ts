// expect: cpu_quota memory_quota
const fork = (): void => {
  Promise.resolve().then(fork);
  Promise.resolve().then(fork);
};
fork();
await new Promise(() => {});
