// expect: cpu_quota
// calls: 0
const request = new Proxy({} as { arm?: string }, {
  ownKeys(): string[] {
    for (;;) {}
  },
});
await robot.goto_home(request);
