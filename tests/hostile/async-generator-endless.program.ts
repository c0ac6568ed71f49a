// expect: cpu_quota
async function* ticks(): AsyncGenerator<number> {
  for (let i = 0; ; i++) yield i;
}
let sum = 0;
for await (const tick of ticks()) sum += tick;
return sum;
