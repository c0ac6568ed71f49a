import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { z } from "zod";
import type { Rig } from "../../src/config/index.js";
import { checkRig } from "../../src/config/rig.js";
import { Skill2RealError } from "../../src/contract/errors.js";
import { compiledModule } from "../../src/contract/package-root.js";
import type { DeviceAddresses } from "../../src/runtime/device/device.js";
import { BackendChild, type BackendExit } from "../process/backend-child.js";
import type { OperatorAddress } from "./operator.js";
import { Sentinel } from "./sentinel.js";
import { type NativeBootstrap, nativeReadySchema } from "./server/bootstrap.js";

export type NativeSpawnOptions = {
  /** The rig with the addresses of its devices. */
  rig: Rig;
  /** Fraction of the rig's speeds that is announced and kept. Default 1; a real rig starts with its `speed_cap`. */
  speedCap?: number;
  /** The process ends when the controller's lease lapses, once the arm stands. Default false. */
  exitOnLeaseLapse?: boolean;
  /** Gets each line that the process writes to stderr. */
  onLog?: (line: string) => void;
  /** Host time until it is ready: the arm's program is uploaded and each camera has given a frame. Default 60000. */
  startTimeoutMs?: number;
};

const optionsSchema = z.strictObject({
  rig: z.unknown(),
  speedCap: z.number().min(0.01).max(1).default(1),
  exitOnLeaseLapse: z.boolean().default(false),
  onLog: z.custom<(line: string) => void>((value) => typeof value === "function").optional(),
  startTimeoutMs: z.number().min(1).max(600_000).default(60_000),
});

type Ready = z.infer<typeof nativeReadySchema>;

/** The arm comes to rest and the devices are let go of. */
const GRACE_MS = 8000;
const KEY_BYTES = 32;

/** The robot workstation's backend in a process of its own, which brings the arm to rest and ends when this process does. */
export class NativeBackend {
  readonly pid: number;
  readonly addresses: DeviceAddresses;
  /** Where a person's commands go (recovery from a protective stop). Never for the runtime or an agent. */
  readonly operator: OperatorAddress;
  /** What was found of the rig, in words: kinematics, real-time scheduling, cameras. */
  readonly notes: readonly string[];
  /** Resolves when the process has ended, however it did. */
  readonly exited: Promise<BackendExit>;
  readonly #child: BackendChild<Ready>;
  readonly #sentinel: Sentinel;

  /** Rejects with `backend_unreachable` and the process's last words, which name the device and the mend. */
  static async spawn(options: NativeSpawnOptions): Promise<NativeBackend> {
    const parsed = optionsSchema.safeParse(options);
    if (!parsed.success)
      throw new Skill2RealError("bad_argument", `cannot start the native backend: ${z.prettifyError(parsed.error)}`);
    const { speedCap, exitOnLeaseLapse, onLog, startTimeoutMs } = parsed.data;
    const rig = checkRig(options.rig, "the rig");
    const entry = compiledModule("backends/native/server/native-main.ts");
    if (!existsSync(entry)) throw new Skill2RealError("setup_incomplete", `${entry} is missing: run "npm run build"`);
    const key = randomBytes(KEY_BYTES).toString("hex");
    const child = new BackendChild({
      what: "native backend",
      command: process.execPath,
      args: ["--no-warnings", entry],
      env: process.env,
      bootstrap: (socket_dir): NativeBootstrap => ({
        socket_dir,
        rig,
        speed_cap: speedCap,
        exit_on_lease_lapse: exitOnLeaseLapse,
        operator_key: key,
      }),
      ready: nativeReadySchema,
      startTimeoutMs,
      graceMs: GRACE_MS,
      endsByItself: true,
      ...(onLog ? { onLog } : {}),
    });
    try {
      const ready = await child.ready();
      return new NativeBackend(child, ready, key, await Sentinel.start(ready.stop, onLog));
    } catch (error) {
      await child.close();
      throw error;
    }
  }

  private constructor(child: BackendChild<Ready>, ready: Ready, key: string, sentinel: Sentinel) {
    this.#child = child;
    this.#sentinel = sentinel;
    this.pid = ready.pid;
    this.addresses = { device: ready.device, stop: ready.stop, events: ready.events };
    this.operator = { address: ready.operator, key };
    this.notes = [
      ...ready.notes,
      ...(sentinel.realtime ? [] : ["Ctrl-C: the process that stops the arm has no real-time scheduling"]),
    ];
    this.exited = child.exited;
    void this.exited.then(() => sentinel.close());
  }

  /** The process that turns Ctrl-C of our terminal into a stop, whatever this process is doing. */
  get sentinelPid(): number {
    return this.#sentinel.pid;
  }

  /** The last lines that it wrote to stderr, up to now. */
  lastWords(): string {
    return this.#child.lastWords();
  }

  /** The arm comes to rest, the devices are let go of, the process ends. Never rejects; safe to call twice. */
  close(): Promise<BackendExit> {
    return this.#child.close();
  }

  /** Ends it at once, for one that does not answer; the controller's own watchdog stops the arm. Never rejects. */
  kill(): Promise<BackendExit> {
    return this.#child.kill();
  }
}
