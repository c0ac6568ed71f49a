import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "smol-toml";
import { z } from "zod";
import { Skill2RealError } from "../contract/errors.js";
import { sha256 } from "../contract/sha256.js";
import { type MemoryEntry, parseEntry } from "./entry.js";

export const LOCK_FILE = "library.lock";

const lockSchema = z.strictObject({
  version: z.literal(1),
  level: z.enum(["cerebellum", "brain"]),
  digest: z.string().length(64),
  /** Digest of the cerebellum that a brain was made with. */
  cerebellum: z.string().length(64).optional(),
  entries: z.record(z.string(), z.string().length(64)),
});
export type LibraryLock = z.infer<typeof lockSchema>;

export type Library = {
  level: "cerebellum" | "brain";
  digest: string;
  cerebellum: string | null;
  entries: MemoryEntry[];
};

/** Every entry file below a library's folder, sorted, with its text. */
function entryFiles(folder: string): Map<string, string> {
  const paths = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((topic) =>
      readdirSync(join(folder, topic.name))
        .filter((name) => name.endsWith(".md"))
        .map((name) => `${topic.name}/${name}`),
    );
  return new Map(paths.toSorted().map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

function lockOf(level: Library["level"], files: Map<string, string>, cerebellum: string | null): LibraryLock {
  const entries = Object.fromEntries([...files].map(([path, text]) => [path, sha256(text)]));
  const digest = sha256(JSON.stringify([level, cerebellum, entries]));
  return { version: 1, level, digest, ...(cerebellum === null ? {} : { cerebellum }), entries };
}

function tomlOf(path: string): unknown {
  try {
    return parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new Skill2RealError("bad_config", `${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

/** Reads a library and checks it against its lock; throws `not_found` or `bad_config` naming the file that differs. */
export function readLibrary(folder: string): Library {
  const lockPath = join(folder, LOCK_FILE);
  if (!existsSync(lockPath))
    throw new Skill2RealError("not_found", `there is no memory library in ${folder}: it holds no ${LOCK_FILE}`);
  const parsed = lockSchema.safeParse(tomlOf(lockPath));
  if (!parsed.success)
    throw new Skill2RealError(
      "bad_config",
      `${lockPath} is not a library's lock: ${parsed.error.issues[0]?.path.join(".")}: ${parsed.error.issues[0]?.message}`,
    );
  const lock = parsed.data;
  const files = entryFiles(folder);
  const found = lockOf(lock.level, files, lock.cerebellum ?? null);
  const differing = [...new Set([...Object.keys(lock.entries), ...Object.keys(found.entries)])].filter(
    (path) => lock.entries[path] !== found.entries[path],
  );
  if (differing.length > 0)
    throw new Skill2RealError(
      "bad_config",
      `library ${folder} is not as its lock says; changed, added or gone: ${differing.join(", ")}`,
    );
  if (found.digest !== lock.digest)
    throw new Skill2RealError("bad_config", `library ${folder}: the lock's own digest is wrong`);
  const entries = [...files].map(([path, text]) => parseEntry(path, text));
  const other = entries.find((entry) => entry.front.level !== lock.level);
  if (other)
    throw new Skill2RealError(
      "bad_config",
      `library ${folder} is a ${lock.level}, but ${other.path} is of level ${other.front.level}`,
    );
  return { level: lock.level, digest: lock.digest, cerebellum: lock.cerebellum ?? null, entries };
}

/** Writes the lock of a library as its files are now; gives its digest. */
export function writeLock(folder: string, level: Library["level"], cerebellum: string | null = null): string {
  const files = entryFiles(folder);
  for (const [path, text] of files) parseEntry(path, text);
  const lock = lockOf(level, files, cerebellum);
  writeFileSync(join(folder, LOCK_FILE), stringify(lock));
  return lock.digest;
}

/** A cerebellum and the brain made with it. Plain data. */
export type Memories = { cerebellum: Library; brain: Library };

/** Reads a pair of libraries from `<folder>/cerebellum` and `<folder>/brain`. */
export function readMemories(folder: string): Memories {
  const cerebellum = readLibrary(join(folder, "cerebellum"));
  const brain = readLibrary(join(folder, "brain"));
  if (brain.cerebellum !== cerebellum.digest)
    throw new Skill2RealError(
      "bad_config",
      `the brain in ${folder} was made with another cerebellum (${brain.cerebellum?.slice(0, 12) ?? "none"}) than the one beside it (${cerebellum.digest.slice(0, 12)})`,
    );
  return { cerebellum, brain };
}
