const STEP = 1e-4;

/**
 * Rounds every number that is not an integer to 0.1 mm, 0.1 mrad (or 1e-4 of whatever its unit is), so that a program
 * or a model never reads digits that no sensor measured. Arrays and plain objects are copied.
 */
export function roundNumbers<T>(value: T): T {
  if (typeof value === "number")
    return (
      Number.isFinite(value) && !Number.isInteger(value)
        ? Number((Math.round(value / STEP) * STEP).toFixed(4)) + 0
        : value
    ) as T;
  if (Array.isArray(value)) return value.map(roundNumbers) as T;
  if (value !== null && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, roundNumbers(entry)])) as T;
  return value;
}
