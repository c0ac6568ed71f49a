/** How many durations lasted so many whole microseconds. */
export type Counts = Float64Array;

const CELLS = 8192;

export const noCounts = (): Counts => new Float64Array(CELLS);

/** Adds `more`, less what `before` already had. */
export function addCounts(to: Counts, more: ArrayLike<number>, before: ArrayLike<number> = []): void {
  for (let us = 0; us < Math.min(CELLS, more.length); us += 1) to[us]! += (more[us] ?? 0) - (before[us] ?? 0);
}

/** The whole microseconds that the given share of the durations does not exceed (nearest rank); NaN for none. */
export function countedQuantile(counts: Counts, share: number): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const rank = Math.max(1, Math.ceil(share * total));
  let seen = 0;
  for (const [us, count] of counts.entries()) {
    seen += count;
    if (total > 0 && seen >= rank) return us;
  }
  return Number.NaN;
}

/** Nearest rank of sorted values; NaN for none. */
export const quantileOf = (sorted: ArrayLike<number>, share: number): number =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
