// expect: cpu_quota
for (;;) {
  try {
    for (;;) {}
  } catch {
    continue;
  }
}
