// expect: cpu_quota
// calls: 1
void robot.goto_home();
await sleep(0.01);
for (;;) {}
