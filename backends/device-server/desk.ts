import type { Capabilities, DeviceReply, DeviceRequest, Role } from "../../src/contract/generated/device.js";
import type { Init } from "../../src/contract/wire/init.js";
import type { DeviceSession } from "./sessions.js";

/** The body of a reply (or a recorded error) and the raw parts that go with it. */
export type Outcome = { body: Init<DeviceReply>; parts?: readonly Uint8Array[] };

export type ServeContext = {
  session: DeviceSession;
  /** Host time (`performance.now()`) by which the caller stops waiting. */
  deadline_ms: number;
};

/** What a backend gives, so that a device plane can serve it. Throws `Refusal` to say no. */
export interface DeviceDesk {
  /** Device time and stop epoch that a reply made now bears. */
  stamp(): { time_s: number; stop_epoch: number };
  capabilities(): Capabilities;
  /** Says no to a Hello that the plane's own rules would take, before a session is opened. */
  admit?(role: Role): void;
  /** A session was opened. */
  admitted?(session: DeviceSession): void;
  /** Does get_state, get_frames, execute, advance or resume; the plane does the others. */
  serve(request: DeviceRequest, context: ServeContext): Outcome | Promise<Outcome>;
  /** The controller said goodbye: its arm stops if it moves. */
  controllerLeft(): void;
  /** A defect while serving; the client is told its kind only. */
  onDefect?(error: unknown): void;
}
