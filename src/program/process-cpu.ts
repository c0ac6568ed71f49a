import { readFileSync } from "node:fs";

/** Linux counts in hundredths of a second for user space, whatever the kernel's own tick is. */
const TICKS_PER_S = 100;

/** CPU time that another process has used, all its threads together; undefined where the system does not tell. */
export function processCpu_s(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // the name in parentheses may hold anything; user and system time are fields 14 and 15
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    return Number.isFinite(ticks) ? ticks / TICKS_PER_S : undefined;
  } catch {
    return undefined;
  }
}
