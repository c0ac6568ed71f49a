// expect: cpu_quota
const a = new Array<number>(1_000_000);
for (;;) a.fill(1);
