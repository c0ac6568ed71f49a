import type { ArmState, EndReason, MotionStatus } from "../../src/contract/generated/device.js";
import type { ContactStop } from "../../src/contract/generated/robot-api.js";
import type { ArmRuntime } from "../../src/runtime/arms.js";
import type { Trajectory } from "../../src/runtime/native/pose.js";
import { type FailureStatus, type MotionIntent, OperationFailure } from "../../src/runtime/operation.js";
import type { OperationContext } from "../../src/runtime/operation-context.js";

const DEFAULT_CONTACT_FORCE_N = 8;
const DEFAULT_CONTACT_TORQUE_NM = 3;

/** The status of each end; null is a good one. */
const END_STATUS: Record<EndReason, FailureStatus | null> = {
  END_UNSPECIFIED: "internal_error",
  END_COMPLETED: null,
  END_CONTACT: null,
  END_UNEXPECTED_CONTACT: "unexpected_contact",
  END_STALLED: "not_reached",
  END_STOPPED: "stopped",
  END_PROTECTIVE_STOP: "protective_stop",
  END_FAULT: "protective_stop",
  END_GROUP: "not_reached",
  END_TIMEOUT: "timeout",
};

/** The contract's word for an end. */
export const stopReason = (end: EndReason): string => end.replace(/^END_/, "").toLowerCase();

export type Reached = { state: ArmState; status: MotionStatus; stop_reason: string };

/**
 * A trajectory as an intent. `finish` gets where the arm is once it has ended well (completed, or asked-for contact); other
 * ends become their status, with the fields that `onFailure` gives.
 */
export function runTrajectory(
  context: OperationContext,
  arm: ArmRuntime,
  trajectory: Trajectory,
  options: {
    contact_stop?: ContactStop | undefined;
    onFailure(reached: Reached): Record<string, unknown>;
    finish(reached: Reached): Promise<Record<string, unknown>>;
  },
): MotionIntent {
  const { contact_stop } = options;
  // An arm that is at its goal already gets a trajectory that stays there: two points are the least that the protocol takes.
  const count = Math.max(2, trajectory.count);
  const q_rad = Array.from(
    { length: 6 * count },
    (_, i) => trajectory.positions_rad[Math.min(i, 6 * (trajectory.count - 1) + (i % 6))] ?? 0,
  );
  return {
    arm: arm.name,
    duration_s: trajectory.duration_s,
    motion: {
      joint_trajectory: {
        arm: arm.name,
        time_s: Array.from({ length: count }, (_, i) => i * trajectory.dt_s),
        q_rad,
        guard: {
          force_n: contact_stop ? (contact_stop.force_n ?? DEFAULT_CONTACT_FORCE_N) : 0,
          torque_nm: contact_stop ? (contact_stop.torque_nm ?? DEFAULT_CONTACT_TORQUE_NM) : 0,
          direction_world: [...(contact_stop?.direction_world ?? [])],
          contact_expected: contact_stop !== undefined,
        },
      },
    },
    finish: async ({ status }) => {
      const reason = stopReason(status.end_reason);
      const failure = END_STATUS[status.end_reason];
      if (context.held.get(arm.name)) context.observations.noteChange(`the object held by arm "${arm.name}" moved`);
      if (reason === "contact" || reason === "unexpected_contact")
        context.observations.noteChange(`arm "${arm.name}" touched something`);
      if (context.device.lost)
        throw new OperationFailure(
          "backend_lost",
          "the backend stopped answering during the motion; where the arm is, is not known",
        );
      const { arms, stop_reason: cause } = await context.state();
      const state = arms.find((entry) => entry.name === arm.name);
      if (!state) throw new OperationFailure("internal_error", `the backend reports no state of arm "${arm.name}"`);
      const reached: Reached = { state, status, stop_reason: reason };
      if (failure)
        throw new OperationFailure(failure, failureWords(reason, status, cause), {
          stop_reason: reason,
          ...options.onFailure(reached),
        });
      return options.finish(reached);
    },
  };
}

/** `cause`: what latched the stop, as the backend calls it; empty where it says nothing. */
function failureWords(reason: string, status: MotionStatus, cause: string): string {
  const why = cause === "" ? "" : ` (${cause})`;
  const force =
    status.contact_force_n.length === 3 ? ` with ${Math.hypot(...status.contact_force_n).toFixed(1)} N` : "";
  const done = `${(100 * status.fraction_done).toFixed(0)} % of the motion was done`;
  switch (reason) {
    case "unexpected_contact":
      return `the arm touched something that it was not told to expect${force}; it holds where it is; ${done}`;
    case "protective_stop":
    case "fault":
      return `the arm stopped itself${why || " (contact above its limits, or a fault)"}; a person must look; ${done}`;
    case "stopped":
      return `a stop was latched during the motion${why}; ${done}`;
    case "timeout":
      return `the motion did not end in its time and the arm was stopped; ${done}`;
    default:
      return `the motion ended early (${reason}); ${done}`;
  }
}
