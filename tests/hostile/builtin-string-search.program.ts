// expect: cpu_quota
const hay = 'a'.repeat(4_000_000);
let n = 0;
for (;;) n += hay.split('b').length + hay.lastIndexOf('ab');
