import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { Skill2RealError } from "../../src/contract/errors.js";
import { compiledModule } from "../../src/contract/package-root.js";
import type { DeviceAddresses } from "../../src/runtime/device/device.js";
import { BackendChild, type BackendExit } from "../process/backend-child.js";

export type ReplaySpawnOptions = {
  /** The recorded episode, an .mcap file of a run. */
  recording: string;
  /** Gets each line that the process writes to stderr. */
  onLog?: (line: string) => void;
  /** Host time until it is ready; a long recording is read once before. Default 60000. */
  startTimeoutMs?: number;
};

const optionsSchema = z.strictObject({
  recording: z.string().min(1),
  onLog: z.custom<(line: string) => void>((value) => typeof value === "function").optional(),
  startTimeoutMs: z.number().min(1).max(600_000).default(60_000),
});

const readySchema = z.looseObject({
  ready: z.literal(true),
  device: z.string(),
  stop: z.string(),
  events: z.string(),
  pid: z.number().int(),
});
type Ready = z.infer<typeof readySchema>;

/**
 * A recorded episode as a backend, in a process of its own, which ends when this process does. It answers one controller
 * with what was recorded as long as that one asks what was recorded; the first request that differs, and all later ones,
 * are refused, which a client sees as `diverged`.
 */
export class ReplayBackend {
  readonly pid: number;
  readonly addresses: DeviceAddresses;
  /** Resolves when the process has ended, however it did. */
  readonly exited: Promise<BackendExit>;
  readonly #child: BackendChild<Ready>;

  /** Rejects with `not_found` for a missing recording, `backend_unreachable` with the reason where it cannot be played. */
  static async spawn(options: ReplaySpawnOptions): Promise<ReplayBackend> {
    const parsed = optionsSchema.safeParse(options);
    if (!parsed.success)
      throw new Skill2RealError("bad_argument", `cannot start a replay: ${z.prettifyError(parsed.error)}`);
    const { startTimeoutMs, onLog } = parsed.data;
    const recording = resolve(parsed.data.recording);
    if (!existsSync(recording)) throw new Skill2RealError("not_found", `there is no recording ${recording}`);
    const entry = compiledModule("backends/replay/server/replay-main.ts");
    if (!existsSync(entry)) throw new Skill2RealError("setup_incomplete", `${entry} is missing: run "npm run build"`);
    const child = new BackendChild({
      what: "replay",
      command: process.execPath,
      args: ["--no-warnings", entry],
      env: { PATH: process.env.PATH ?? "", LANG: "C.UTF-8", TMPDIR: process.env.TMPDIR ?? "/tmp" },
      bootstrap: (socket_dir) => ({ socket_dir, recording }),
      ready: readySchema,
      startTimeoutMs,
      ...(onLog ? { onLog } : {}),
    });
    try {
      return new ReplayBackend(child, await child.ready());
    } catch (error) {
      await child.close();
      throw error;
    }
  }

  private constructor(child: BackendChild<Ready>, ready: Ready) {
    this.#child = child;
    this.pid = ready.pid;
    this.addresses = { device: ready.device, stop: ready.stop, events: ready.events };
    this.exited = child.exited;
  }

  /** The last lines that it wrote to stderr, up to now. */
  lastWords(): string {
    return this.#child.lastWords();
  }

  /** Ends the process and removes its socket folder. Never rejects; safe to call twice. */
  close(): Promise<BackendExit> {
    return this.#child.close();
  }
}
