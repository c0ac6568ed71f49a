// expect: memory_quota cpu_quota
const map = new Map<number, number[]>();
for (let i = 0; ; i++) map.set(i, [i, i, i, i, i, i, i, i]);
