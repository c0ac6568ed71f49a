// expect: cpu_quota
const again = (): number => {
  try {
    for (;;) {}
  } finally {
    return again();
  }
};
return again();
