// expect: cpu_quota memory_quota threw:RangeError
let n = 3n;
for (;;) n *= n;
