// expect: memory_quota
const kept: Uint8Array[] = [];
for (;;) kept.push(new Uint8Array(1 << 20).fill(1));
