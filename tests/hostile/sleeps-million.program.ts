// expect: call_quota time_quota
for (let i = 0; i < 1_000_000; i++) await sleep(0.001);
