// expect: cpu_quota memory_quota
const kept: unknown[] = [];
for (;;) {
  try {
    for (;;) kept.push(new Uint8Array(1 << 16).fill(1));
  } catch {
    kept.length = Math.floor(kept.length / 2);
  }
}
