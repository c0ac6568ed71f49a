/** z of a two-sided 95 % interval. */
const Z95 = 1.959964;

/** Wilson score interval of a proportion at 95 % (E. B. Wilson, JASA 22, 1927); [0, 1] for no trials. */
export function wilson95(successes: number, trials: number): [number, number] {
  if (trials === 0) return [0, 1];
  const p = successes / trials;
  const z2n = (Z95 * Z95) / trials;
  const centre = (p + z2n / 2) / (1 + z2n);
  const half = (Z95 / (1 + z2n)) * Math.sqrt((p * (1 - p)) / trials + z2n / (4 * trials));
  return [Math.max(0, centre - half), Math.min(1, centre + half)];
}
