// expect: cpu_quota
for (;;) {}
