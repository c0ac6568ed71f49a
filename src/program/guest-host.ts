/** A call of `robot.<name>(...args)` that waits for its reply. */
export type GuestCall = { id: number; name: string; args: unknown[] };

/** A call of `sleep(seconds)` that waits for device time to pass. */
export type GuestSleep = { id: number; seconds: number };

/**
 * What the guest asked for in one turn of its event loop. Calls of the same turn were issued together
 * (`Promise.all`) and are one group.
 */
export type GuestTurn = {
  /** 0 for the program's first turn. */
  index: number;
  /** Empty when the guest only took in replies and still waits for others. */
  calls: GuestCall[];
  sleeps: GuestSleep[];
  /** Ids of everything that is pending now, those of this turn included. */
  pending: number[];
  /**
   * True when every settlement sent so far has been taken in: nothing in the guest can run until the next one.
   * Simulated time may be advanced only then.
   */
  idle: boolean;
};

/** A call failed: in the guest it throws `RobotError(code)` at the line of the call. */
export type CallFailure = { code: string; message: string };

/** The end of one call or sleep. A sleep's value is not looked at. */
export type Settlement = { id: number; value?: unknown } | { id: number; error: CallFailure };

/** The way back into the guest. Every method does nothing once the program has ended. */
export interface GuestReplies {
  /**
   * Settles several calls and sleeps at once: the guest sees all of them before it runs on, so what it does next is one turn.
   * `time_s` is the device time now (`Date` in the guest); it never goes back.
   * @throws Skill2RealError `bad_argument` for an id that is not pending or a value that is not JSON (NaN included).
   */
  settle(settlements: readonly Settlement[], time_s?: number): void;
  resolve(id: number, value?: unknown, time_s?: number): void;
  reject(id: number, error: CallFailure, time_s?: number): void;
}

/** Who answers a program's calls. */
export interface GuestHost {
  /**
   * Called once per turn, when the guest has nothing left to run. Never called after the program was stopped or has ended.
   * Throwing here ends the program and makes `run` reject with the error.
   */
  onTurn(turn: GuestTurn, replies: GuestReplies): void;
}
