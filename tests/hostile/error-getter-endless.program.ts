// expect: cpu_quota
throw Object.defineProperty(new Error('x'), 'message', {
  get(): string {
    for (;;) {}
  },
});
