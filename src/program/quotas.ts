import { z } from "zod";
import { Skill2RealError } from "../contract/errors.js";
import { suggest } from "../contract/suggest.js";

const count = z.number().int().positive();
/** Bounded by what a timer can wait for. */
const seconds = z.number().positive().max(1_000_000);

const quotasSchema = z.strictObject({
  /** Calls of robot operations and of `sleep` in one program. */
  maxCalls: count,
  /** Calls and sleeps that may be pending at once. */
  maxCallsInFlight: count,
  /** Length of one call's arguments as JSON, in characters; one turn's calls may hold four times as much together. */
  maxArgumentChars: count,
  /** Entries of any one array in the arguments: the poses of a path. */
  maxPathPoints: count,
  /** Guest CPU between two awaits. */
  turnCpu_s: seconds,
  /**
   * Wall time between two awaits, enforced from outside for built-ins that nothing can interrupt; up to twice as long while
   * other processes keep the guest from computing.
   */
  turnWall_s: seconds,
  /** Device time from start to end of the program. */
  deviceTime_s: seconds,
  /** Wall time from start to end of the program, waiting for operations included. */
  wallTime_s: seconds,
  /** Characters printed; each line counts `PRINT_LINE_OVERHEAD` more. */
  maxPrintedChars: count,
  /** Length of the returned value as JSON, in characters. */
  maxResultChars: count,
  /** All memory of the guest, in MB (1 MB = 1048576 bytes). 16 MB are taken by the interpreter's own start. */
  memory_MB: count.min(17).max(1024),
  /** The interpreter's stack, in kB. Above 384 the interpreter itself crashes on deep recursion. */
  stack_kB: count.min(32).max(384),
});

/** Limits of one program, all enforced outside its reach. */
export type Quotas = z.infer<typeof quotasSchema>;

export const DEFAULT_QUOTAS: Readonly<Quotas> = {
  maxCalls: 1_000,
  maxCallsInFlight: 256,
  maxArgumentChars: 524_288,
  maxPathPoints: 2_000,
  turnCpu_s: 2,
  turnWall_s: 5,
  deviceTime_s: 600,
  wallTime_s: 1_800,
  maxPrintedChars: 65_536,
  maxResultChars: 16_384,
  memory_MB: 64,
  stack_kB: 128,
};

/** `base` with `changes` on top; throws `bad_argument` naming an unknown or unfit quota. */
export function resolveQuotas(changes: Partial<Quotas> = {}, base: Readonly<Quotas> = DEFAULT_QUOTAS): Quotas {
  const known = Object.keys(DEFAULT_QUOTAS);
  for (const key of Object.keys(changes)) {
    if (!known.includes(key))
      throw new Skill2RealError("bad_argument", `there is no quota "${key}".${suggest(key, known)}`);
  }
  const parsed = quotasSchema.safeParse({ ...base, ...changes });
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Skill2RealError("bad_argument", `quota ${issue?.path.join(".")}: ${issue?.message}`);
}
