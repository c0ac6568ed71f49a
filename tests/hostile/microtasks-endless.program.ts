// expect: cpu_quota
for (;;) await null;
