import { Skill2RealError } from "../../contract/errors.js";
import type { DeviceRequest } from "../../contract/generated/device.js";
import type { Past, PastAnswer } from "../device/device.js";
import { Playback } from "./playback.js";
import { Recording } from "./recording.js";

/**
 * What an interrupted session was answered up to the end of a decision stage, for the session that goes on with it: asked the
 * same again, it gives the same again, and with it everything that the runtime and a program make of it.
 */
export class RecordedPast implements Past {
  readonly hello: PastAnswer;
  readonly #recording: Recording;
  readonly #playback: Playback;

  private constructor(recording: Recording) {
    this.#recording = recording;
    this.#playback = new Playback(recording);
    this.hello = { reply: recording.hello.reply, parts: [] };
  }

  /** Of the trace `path`, up to the mark of the end of `stage`; throws as `Recording.open`. */
  static async open(path: string, stage: number): Promise<RecordedPast> {
    return new RecordedPast(await Recording.open(path, { until: stage }));
  }

  get over(): boolean {
    return this.#playback.left === 0 && this.#playback.stopsLeft === 0;
  }

  get time_s(): number {
    return this.#playback.time_s;
  }

  async answer(request: DeviceRequest): Promise<PastAnswer> {
    const played = this.#playback.answer(request);
    if ("diverged" in played)
      throw new Skill2RealError("diverged", `what is resumed does not repeat itself: ${played.diverged}`);
    return { reply: played.reply, parts: await this.#recording.parts(played.exchange) };
  }

  stop(): { stop_epoch: number; time_s: number } | null {
    return this.#playback.stopsLeft > 0 ? this.#playback.stop() : null;
  }

  close(): Promise<void> {
    return this.#recording.close();
  }
}
