// expect: cpu_quota
const a = Array.from({ length: 300_000 }, (_, i) => (i * 7919) % 300_007);
for (;;) a.slice().sort();
