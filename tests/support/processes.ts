import { readdirSync, readFileSync } from "node:fs";

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * How much slower than promised a machine may be that runs other work beside the tests: limits on host time are multiplied
 * by it. 1 asks for what is promised.
 */
export const PATIENCE = Number(process.env.SKILL2REAL_TEST_PATIENCE ?? "1");

type Status = { ppid: number; state: string };

/** Parent and state of a process by /proc; null where there is none. Zombies have ended: only their parent has not looked. */
function statusOf(pid: number): Status | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state = "", ppid = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { ppid: Number(ppid), state };
  } catch {
    return null;
  }
}

export const alive = (pid: number): boolean => {
  const status = statusOf(pid);
  return status !== null && status.state !== "Z" && status.state !== "X";
};

/** Every process below `pid`, children before their own children. */
export function descendants(pid: number): number[] {
  const parents = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const child = Number(name);
    const status = Number.isInteger(child) ? statusOf(child) : null;
    if (status) parents.set(status.ppid, [...(parents.get(status.ppid) ?? []), child]);
  }
  const found: number[] = [];
  for (const queue = [...(parents.get(pid) ?? [])]; queue.length > 0; ) {
    const child = queue.shift()!;
    found.push(child);
    queue.push(...(parents.get(child) ?? []));
  }
  return found.filter(alive);
}

export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}

/** Those of `pids` that are still there after `limit_ms`, with their commands; none as soon as all have ended. */
export async function survivors(pids: readonly number[], limit_ms: number): Promise<string[]> {
  const give_up = performance.now() + limit_ms * PATIENCE;
  while (pids.some(alive) && performance.now() < give_up) await sleep(20);
  return pids.filter(alive).map((pid) => `${pid} ${commandOf(pid)}`);
}

/** Waits until `look` gives something. */
export async function until<T>(
  what: string,
  look: () => T | null | undefined | Promise<T | null | undefined>,
  limit_ms = 20_000,
): Promise<T> {
  for (const give_up = performance.now() + limit_ms * PATIENCE; ; await sleep(20)) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (performance.now() > give_up) throw new Error(`${what}: not within ${limit_ms} ms`);
  }
}
