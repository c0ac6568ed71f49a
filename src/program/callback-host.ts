import type { CallFailure, GuestHost } from "./guest-host.js";

export type CallbackHostOptions = {
  /** Answers one call; what it throws reaches the guest as `RobotError`, with the thrown error's `code` where that is a string. */
  onCall(name: string, args: unknown[], id: number): unknown;
  /** Lets device time pass and gives the time after it. Without it a sleep only moves the clock. */
  onSleep?(seconds: number): Promise<number> | number;
  /** Device time at the start. */
  startTime_s?: number;
};

/** A host for those who need no groups: every call is answered by itself, as soon as its answer is there. */
export function callbackHost(options: CallbackHostOptions): GuestHost {
  let now_s = options.startTime_s ?? 0;
  const sleep = options.onSleep ?? ((seconds: number) => now_s + seconds);
  return {
    onTurn(turn, replies) {
      for (const call of turn.calls) {
        Promise.resolve()
          .then(() => options.onCall(call.name, call.args, call.id))
          .then((value) => replies.resolve(call.id, value))
          .catch((error: unknown) => replies.reject(call.id, asFailure(error)));
      }
      for (const { id, seconds } of turn.sleeps) {
        Promise.resolve()
          .then(() => sleep(seconds))
          .then((time_s) => {
            now_s = Math.max(now_s, time_s);
            replies.resolve(id, null, now_s);
          })
          .catch((error: unknown) => replies.reject(id, asFailure(error)));
      }
    },
  };
}

function asFailure(error: unknown): CallFailure {
  const code =
    typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
      ? error.code
      : "internal_error";
  return { code, message: error instanceof Error ? error.message : String(error) };
}
