// expect: cpu_quota memory_quota
const a = new Array<string>(500_000).fill('ab');
let n = 0;
for (;;) n += a.join('').length;
