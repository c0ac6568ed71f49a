// expect: cpu_quota
// calls: 0
const request = {
  get arm(): string {
    for (;;) {}
  },
};
await robot.goto_home(request);
