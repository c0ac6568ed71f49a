// expect: cpu_quota
console.log({
  get x(): number {
    for (;;) {}
  },
});
