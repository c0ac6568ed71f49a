// expect: cpu_quota
await sleep(0.1);
let n = 0;
while (n >= 0) n = (n + 1) % 7;
