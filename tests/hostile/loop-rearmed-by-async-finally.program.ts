// expect: cpu_quota
const again = async (): Promise<never> => {
  try {
    for (;;) {}
  } finally {
    await again();
  }
};
await again();
