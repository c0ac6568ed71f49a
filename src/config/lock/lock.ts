import { z } from "zod";
import { describeIssues } from "../../contract/describe-issues.js";
import { Skill2RealError } from "../../contract/errors.js";
import { digestOf, type Plain } from "./canonical-json.js";

const FORMAT = "skill2real-lock-1";
const LOCK_PARTS = ["policy", "environment"] as const;
export type LockPart = (typeof LOCK_PARTS)[number];

/** Everything that can change what is decided, and everything that can change what becomes of it. */
export type Lock = {
  format: typeof FORMAT;
  policy_hash: string;
  environment_hash: string;
  policy: { readonly [key: string]: Plain };
  environment: { readonly [key: string]: Plain };
};

const plain: z.ZodType<Plain> = z.lazy(() =>
  z.union([z.null(), z.boolean(), z.number(), z.string(), z.array(plain), z.record(z.string(), plain)]),
);
const lockSchema = z.strictObject({
  format: z.literal(FORMAT),
  policy_hash: z.string().length(64),
  environment_hash: z.string().length(64),
  policy: z.record(z.string(), plain),
  environment: z.record(z.string(), plain),
});

/** Without undefined values, as JSON would have it. */
const settled = (value: { readonly [key: string]: Plain | undefined }): { readonly [key: string]: Plain } =>
  JSON.parse(JSON.stringify(value)) as { readonly [key: string]: Plain };

/** Names the two parts by their digests. Neither may hold a secret, a path, a port or a host: what gathers them takes care. */
export function makeLock(
  policy: { readonly [key: string]: Plain | undefined },
  environment: { readonly [key: string]: Plain | undefined },
): Lock {
  return {
    format: FORMAT,
    policy_hash: digestOf(policy),
    environment_hash: digestOf(environment),
    policy: settled(policy),
    environment: settled(environment),
  };
}

/** Reads a lock; throws `bad_config` for what is none, or whose content is not what its digests say. */
export function parseLock(text: string, where: string): Lock {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Skill2RealError("bad_config", `${where} is not JSON: ${(cause as Error).message}`, { cause });
  }
  const parsed = lockSchema.safeParse(value);
  if (!parsed.success)
    throw new Skill2RealError(
      "bad_config",
      `${where}: ${describeIssues(lockSchema, value, parsed.error.issues, "the lock")}`,
    );
  const lock = parsed.data;
  for (const part of LOCK_PARTS)
    if (digestOf(lock[part]) !== lock[`${part}_hash`])
      throw new Skill2RealError("bad_config", `${where}: ${part} was changed after it was locked; make the lock anew`);
  return lock;
}

const shown = (value: Plain | undefined): string => {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
};

/** A list by what its entries are: named things by their names; null for a list of anything else, or with two of one name. */
function byName(list: readonly Plain[]): Record<string, Plain> | null {
  const entries = list.map((entry): [string, Plain] | null => {
    if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return null;
    const { name, ...rest } = entry as { readonly [key: string]: Plain };
    return typeof name === "string" ? [name, rest] : null;
  });
  const named = entries.filter((entry) => entry !== null);
  return named.length === list.length && new Set(named.map(([name]) => name)).size === list.length
    ? Object.fromEntries(named)
    : null;
}

function differences(before: Plain | undefined, after: Plain | undefined, path: string, out: string[]): void {
  if (before === after) return;
  if (Array.isArray(before) && Array.isArray(after)) {
    const [a, b] = [byName(before), byName(after)];
    // Where the same things stand in another order, that is the difference.
    if (a && b && digestOf(a) !== digestOf(b)) {
      differences(a, b, path, out);
      return;
    }
  }
  const nested = (value: Plain | undefined): value is { readonly [key: string]: Plain } | readonly Plain[] =>
    typeof value === "object" && value !== null;
  if (nested(before) && nested(after) && Array.isArray(before) === Array.isArray(after)) {
    const [a, b] = [before, after] as [Record<string, Plain>, Record<string, Plain>];
    for (const key of [...new Set([...Object.keys(a), ...Object.keys(b)])].sort())
      differences(a[key], b[key], Array.isArray(before) ? `${path}[${key}]` : `${path}.${key}`, out);
    return;
  }
  out.push(`${path}: ${shown(before)} became ${shown(after)}`);
}

/** What differs between two locks in the named parts, one line each; empty where nothing does. */
export function diffLocks(before: Lock, after: Lock, parts: readonly LockPart[] = LOCK_PARTS): string[] {
  const out: string[] = [];
  for (const part of parts) differences(before[part], after[part], part, out);
  return out;
}
