// expect: memory_quota threw:InternalError threw:RangeError
let s = 'x';
for (;;) s = s.repeat(2);
