// expect: cpu_quota memory_quota
function* endless(): Generator<number> {
  for (;;) yield 1;
}
return [...endless()].length;
