import type { RefreshHeldObjectStateRequest } from "../../src/contract/generated/robot-api.js";
import { heldObjectState } from "../../src/runtime/held-objects.js";
import { OperationFailure, type OperationTable, plain } from "../../src/runtime/operation.js";
import { fromYaw, invert, multiply, transformPoint } from "../../src/runtime/transforms.js";
import { maskedDepth, measured } from "../geometry/measure-geometry.js";

/** The thing counts as between the fingers when its box reaches this near to the TCP. */
const NEAR_TCP_M = 0.03;

export const operations: OperationTable = {
  get_previous_proposer_state: plain(async (context) => ({
    stage: context.stage.previous?.stage ?? null,
    working_state: context.stage.previous?.working_state ?? null,
    held_object_state: context.held.states(),
  })),
  refresh_held_object_state: plain<RefreshHeldObjectStateRequest>(async (context, request) => {
    const arm = context.arms.get(request.arm);
    const observation = context.observations.observation(request.observation_ref);
    const { mask, depth } = maskedDepth(context, request.mask_ref, request.depth_ref);
    if (depth.observation !== observation)
      throw new OperationFailure(
        "mismatched_refs",
        `depth_ref is of ${depth.observation.ref}, not of ${observation.ref}`,
      );
    const exposed = observation.arms.find((state) => state.name === arm.name);
    if (!exposed)
      throw new OperationFailure("internal_error", `the observation does not say where arm "${arm.name}" was`);
    const geometry = await measured(mask, depth);
    const box = geometry.upright_box;
    const X_world_box = fromYaw(box.center_world, box.yaw_rad);
    const tcp = transformPoint(invert(X_world_box), [
      exposed.X_world_tcp[3]!,
      exposed.X_world_tcp[7]!,
      exposed.X_world_tcp[11]!,
    ]);
    const outside_m = Math.hypot(...tcp.map((value, i) => Math.max(0, Math.abs(value) - box.size_m[i]! / 2)));
    if (outside_m > NEAR_TCP_M) {
      throw new OperationFailure(
        "not_in_gripper",
        `the masked thing is ${outside_m.toFixed(3)} m away from between the fingers; a held one is within ${NEAR_TCP_M} m`,
      );
    }
    const gripper = await context.gripperState(arm);
    context.held.set({
      arm: arm.name,
      X_tcp_box: multiply(invert(exposed.X_world_tcp), X_world_box),
      size_m: box.size_m,
      round: !box.yaw_defined,
      opening_m: gripper.opening_m,
      basis: "refresh",
      measured_at_s: observation.taken_at_s,
    });
    const held = context.held.get(arm.name);
    return {
      held_object_state: held && heldObjectState(held),
      basis: `visible geometry of ${mask.ref}, ${geometry.point_count} points`,
      ...context.observations.staleness(observation),
    };
  }),
};
