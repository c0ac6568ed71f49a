// expect: cpu_quota memory_quota
const text = `[${'[1,2,3],'.repeat(100_000)}0]`;
let n = 0;
for (;;) n += (JSON.parse(text) as unknown[]).length;
