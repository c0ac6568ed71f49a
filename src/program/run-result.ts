import type { KillCode } from "./kill-codes.js";

/** Plain JSON data: what calls, replies and results are made of. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** One `console` call. Control characters other than tab and newline arrive escaped. */
export type PrintedLine = {
  level: "log" | "warn" | "error";
  text: string;
  /** Device time when it was printed. */
  time_s: number;
};

/** What an uncaught error says. Lines and columns are 1-based and those of the author's source; null where unknown. */
export type ProgramError = {
  name: string;
  message: string;
  line: number | null;
  column: number | null;
  /** The `code` of a `RobotError`, where it has one. */
  code?: string;
  /** Frames of the program alone, one per line. */
  stack: string;
};

export type RunUsage = {
  /** Robot calls that reached the host. */
  calls: number;
  sleeps: number;
  turns: number;
  /** Time in which the guest computed (the smaller of CPU and wall time of its process). */
  guestCpu_s: number;
  /** From start to end. */
  wall_s: number;
  device_s: number;
};

export type RunEnd =
  | { outcome: "returned"; value: JsonValue }
  | { outcome: "threw"; error: ProgramError }
  | { outcome: "killed"; code: KillCode; message: string };

/** How a program ended, with everything it printed until then. Whatever of its calls is still in flight is the caller's to stop. */
export type RunResult = RunEnd & { printed: PrintedLine[]; usage: RunUsage };
