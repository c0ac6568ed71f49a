// expect: cpu_quota memory_quota
let n = 0;
for (;;) n += 'abcdefgh'.repeat(1_000_000).indexOf('x');
