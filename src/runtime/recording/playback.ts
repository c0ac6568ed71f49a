import type { DeviceReply, DeviceRequest, GroupStatus, StateReply } from "../../contract/generated/device.js";
import { POLL_ID } from "../device/device.js";
import { requestDifference, requestDigest } from "./compare-requests.js";
import type { RecordedExchange, RecordingContent } from "./recording.js";

export type Played = { exchange: RecordedExchange; reply: DeviceReply } | { diverged: string };

const isPoll = ({ body, request_id }: DeviceRequest): boolean => body === "get_state" && request_id.startsWith(POLL_ID);

/**
 * Answers one session's requests from a recording, each by the next one that was recorded. Only polls, with which the
 * controller of a wall clock asks for states as time goes by, may be more or fewer than recorded: an extra one is
 * answered with the last state, in which the motions that the recording knows to have ended have ended.
 */
export class Playback {
  readonly #content: RecordingContent;
  readonly #clock: "SIM" | "WALL";
  readonly #ends: ReadonlyMap<number, GroupStatus>;
  readonly #started = new Set<number>();
  #next = 0;
  #last_state: RecordedExchange | null = null;
  #time_s: number;
  #stop_epoch: number;
  #stops = 0;
  #diverged: string | null = null;

  constructor(content: RecordingContent) {
    this.#content = content;
    this.#clock = content.hello.reply.hello?.capabilities?.clock === "WALL" ? "WALL" : "SIM";
    this.#ends = endsOf(content.exchanges);
    this.#time_s = content.hello.reply.time_s;
    this.#stop_epoch = content.hello.reply.stop_epoch;
  }

  /** Device time of the newest reply, and the stop epoch now. */
  get time_s(): number {
    return this.#time_s;
  }
  get stopEpoch(): number {
    return this.#stop_epoch;
  }
  /** The newest recorded state that was given out; null before the first. */
  get lastState(): StateReply | null {
    return this.#last_state?.reply.state ?? this.#last_state?.reply.advance?.state ?? null;
  }
  /** How many recorded requests have not been asked. */
  get left(): number {
    return this.#content.exchanges.length - this.#next;
  }

  /** Latches a stop: in the epoch that the recorded one had, where there is one left. */
  stop(): { stop_epoch: number; time_s: number } {
    const recorded = this.#content.stops[this.#stops];
    this.#stops += 1;
    this.#stop_epoch = recorded ? Math.max(recorded.stop_epoch, this.#stop_epoch) : this.#stop_epoch + 1;
    return { stop_epoch: this.#stop_epoch, time_s: recorded?.time_s ?? this.#time_s };
  }

  /** How many recorded stops have not been asked for. */
  get stopsLeft(): number {
    return Math.max(0, this.#content.stops.length - this.#stops);
  }
  /** A stop that the recording does not know of: nothing may start any more. */
  get stoppedBeyondRecording(): boolean {
    return this.#stops > this.#content.stops.length;
  }

  answer(request: DeviceRequest): Played {
    if (this.#diverged !== null) return { diverged: this.#diverged };
    if (isPoll(request)) return this.#poll();
    while (this.#pollIsNext()) this.#next += 1;
    const exchange = this.#content.exchanges[this.#next];
    if (!exchange) return this.#diverge(`the recording ends before this ${request.body}`);
    if (exchange.verb !== request.body)
      return this.#diverge(`asked is ${request.body}, recorded as request ${exchange.sequence} is ${exchange.verb}`);
    if (requestDigest(exchange.request, this.#clock) !== requestDigest(request, this.#clock)) {
      const difference = requestDifference(exchange.request, request, this.#clock);
      return this.#diverge(`${request.body}, recorded as request ${exchange.sequence}, differs: ${difference}`);
    }
    this.#next += 1;
    return this.#play(exchange);
  }

  #pollIsNext(): boolean {
    const exchange = this.#content.exchanges[this.#next];
    return exchange !== undefined && isPoll(exchange.request);
  }

  #poll(): Played {
    if (this.#pollIsNext()) {
      this.#next += 1;
      return this.#play(this.#content.exchanges[this.#next - 1]!);
    }
    const last = this.#last_state;
    if (!last?.reply.state) return this.#diverge("a state is polled before any was recorded");
    const known = new Map(last.reply.state.groups.map((group) => [group.group, group]));
    for (const group of this.#started) {
      const end = this.#ends.get(group);
      if (end) known.set(group, end);
    }
    return { exchange: last, reply: { ...last.reply, state: { ...last.reply.state, groups: [...known.values()] } } };
  }

  #play(exchange: RecordedExchange): Played {
    const { reply } = exchange;
    this.#time_s = reply.time_s;
    this.#stop_epoch = Math.max(this.#stop_epoch, reply.stop_epoch);
    if (reply.execute) this.#started.add(reply.execute.group);
    if (reply.state || reply.advance?.state) this.#last_state = exchange;
    return { exchange, reply };
  }

  #diverge(what: string): Played {
    this.#diverged = `the replay differs from its recording first here: ${what}`;
    return { diverged: this.#diverged };
  }
}

/** How each group ended, as the first recorded state says that knows it. */
function endsOf(exchanges: readonly RecordedExchange[]): Map<number, GroupStatus> {
  const ends = new Map<number, GroupStatus>();
  for (const { reply } of exchanges) {
    for (const group of reply.state?.groups ?? reply.advance?.state?.groups ?? [])
      if (!group.active && !ends.has(group.group)) ends.set(group.group, group);
  }
  return ends;
}
