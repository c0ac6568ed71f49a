import type {
  Capabilities,
  DeviceEvent,
  DeviceRequest,
  Role,
  StateReply,
} from "../../../src/contract/generated/device.js";
import { Playback } from "../../../src/runtime/recording/playback.js";
import type { Recording } from "../../../src/runtime/recording/recording.js";
import type { DeviceDesk, Outcome, ServeContext } from "../../device-server/desk.js";
import { Refusal } from "../../device-server/refusal.js";
import type { DeviceSession } from "../../device-server/sessions.js";

/**
 * What a replay answers. One session, ever, plays the recording as its controller; others may look at the last state. Nothing
 * here can move, so that a lease never lapses.
 */
export class ReplayDesk implements DeviceDesk {
  readonly #recording: Recording;
  readonly #playback: Playback;
  readonly #publish: (event: DeviceEvent) => void;
  #taken = false;

  /** `publish` gets the recorded events of a reply once it is made. */
  constructor(recording: Recording, publish: (event: DeviceEvent) => void) {
    this.#recording = recording;
    this.#playback = new Playback(recording);
    this.#publish = publish;
  }

  stamp(): { time_s: number; stop_epoch: number } {
    return { time_s: this.#playback.time_s, stop_epoch: this.#playback.stopEpoch };
  }

  capabilities(): Capabilities {
    return { ...this.#recording.hello.reply.hello!.capabilities!, backend: "replay" };
  }

  stop(): { stop_epoch: number; time_s: number } {
    return this.#playback.stop();
  }

  admit(role: Role): void {
    if (role !== "CONTROLLER") return;
    if (this.#taken)
      throw new Refusal(
        "ERROR_CONTROLLER_TAKEN",
        "a replay plays its recording once, to one controller: start another replay",
      );
  }

  admitted({ role }: DeviceSession): void {
    this.#taken ||= role === "CONTROLLER";
  }

  controllerLeft(): void {}

  serve(request: DeviceRequest, { session }: ServeContext): Outcome | Promise<Outcome> {
    if (session.role === "CONTROLLER") return this.#play(request);
    if (request.body === "get_frames")
      throw new Refusal("ERROR_UNSUPPORTED", "a replay shows its frames to the controller only");
    return { body: { state: this.#look() } };
  }

  /** Observers and stoppers see the state that the controller saw last. */
  #look(): StateReply {
    const state = this.#playback.lastState;
    if (!state) throw new Refusal("ERROR_NOT_READY", "the controller has not yet asked for a state");
    return state;
  }

  async #play(request: DeviceRequest): Promise<Outcome> {
    if (request.execute && this.#playback.stoppedBeyondRecording)
      throw new Refusal("ERROR_STOP_EPOCH", "a stop is latched that the recording does not have: start another replay");
    const played = this.#playback.answer(request);
    if ("diverged" in played) throw new Refusal("ERROR_DIVERGED", played.diverged);
    const { reply, exchange } = played;
    const parts = await this.#recording.parts(exchange);
    for (const event of reply.advance?.events ?? []) this.#publish(event);
    return { body: reply, parts };
  }
}
