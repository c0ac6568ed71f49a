/**
 * What starting a simulator gives: its addresses, its privileged token, and its life.
 *
 * @module
 */
import type { CurveKeys, DeviceAddresses } from "../../src/runtime/device/device.js";
import type { BackendExit } from "../process/backend-child.js";

export type SimSpawnOptions = {
  /** Simulated world. Default "twin". */
  world?: string;
  /** Python module that serves it. Default "skill2real_sim"; tests of the protocol alone name one without physics. */
  module?: string;
  /** 0 (default): simulated time moves by Advance only. Else a wall clock at this rate, 1.0 = real time. */
  realtime?: number;
  /** True: also a privileged socket, whose token only the handle holds. */
  privileged: boolean;
  /** The process ends when the controller's lease lapses. Default false. */
  exitOnLeaseLapse?: boolean;
  /** Python interpreter; default `.venvs/twin/bin/python` of the package, as the set-up makes it. */
  python?: string;
  /** Listen on tcp at this host instead of ipc, with CURVE keys made for this run. */
  tcpHost?: string;
  /** Gets each line that the simulator writes to stderr. */
  onLog?: (line: string) => void;
  /** Host time until the ready line. Default 30000. */
  startTimeoutMs?: number;
};

export type SimExit = BackendExit;

export interface SimProcess {
  readonly pid: number;
  /** "egl", "osmesa", … as the simulator reports it. */
  readonly renderer: string;
  readonly addresses: DeviceAddresses;
  /** Client keys, where it listens on tcp. */
  readonly curve: CurveKeys | undefined;
  /** Only when spawned with `privileged: true`. Hand this to the evaluator alone. */
  readonly privileged: { address: string; token: Buffer } | undefined;
  /** Resolves when the process has ended, however it did. */
  readonly exited: Promise<SimExit>;
  /** The last lines that it wrote to stderr, up to now. */
  lastWords(): string;
  /** Asks it to end, kills it if it does not, and removes its socket folder. Never rejects; safe to call twice. */
  close(): Promise<SimExit>;
  /** Ends it at once, for one that does not answer, and removes its socket folder. Never rejects. */
  kill(): Promise<SimExit>;
}
