// expect: returned
// value: "stack overflow"
const down = (n: number): number => down(n + 1) + 1;
try {
  return down(0);
} catch (error) {
  return (error as Error).message;
}
