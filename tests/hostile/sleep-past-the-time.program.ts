// expect: time_quota
for (;;) await sleep(300);
