// Picks the task's object by hand, one operation after the other: bind, compile, approach, close, lift, check.
//   node examples/02-pick.mjs [seed]
import { openSimulatedSession } from "skill2real";

const robot = await openSimulatedSession({ seed: Number(process.argv[2] ?? 7), folder: `runs/pick-${Date.now()}` });
const { call } = robot;
try {
  const [, thing] = /the ([a-z ]+?) (?:into|onto|in|on) the/.exec(robot.instruction);
  const { observation_ref } = await call("get_topdown_stereo_view");
  const { depth_ref } = await call("get_foundation_stereo_depth", { observation_ref });
  const { box } = await call("localize", { observation_ref, query: thing });
  const { mask_ref } = await call("get_sam_mask_from_box", { observation_ref, box });
  const { upright_box } = await call("measure_visible_geometry", { mask_ref, depth_ref });

  // The fingers close across the shorter side of the box; a round thing has no yaw, and any direction does.
  const [long, short] = [Math.max(...upright_box.size.slice(0, 2)), Math.min(...upright_box.size.slice(0, 2))];
  const across = upright_box.yaw_rad + (upright_box.size[0] > upright_box.size[1] ? Math.PI / 2 : 0);
  console.log(`${thing}: ${(1000 * long).toFixed(0)} x ${(1000 * short).toFixed(0)} mm`);
  const plan = await call("compile_pose", {
    mode: "grasp",
    grasp_center_xyz: upright_box.center,
    closing_axis_world: [Math.cos(across), Math.sin(across), 0],
    depth_ref,
    mask_ref,
  });

  await call("gripper_goto", { opening_m: plan.opening_m });
  await call("goto_pose", { pose: plan.approach });
  await call("goto_pose", { pose: plan.contact, motion: "linear", speed: 0.5 });
  const closed = await call("gripper_goto", { opening_m: 0 });
  await call("goto_pose", { pose: plan.lift, motion: "linear", speed: 0.5 });

  // A stalled closing and an opening that stays above zero after the lift are the evidence that something is held.
  const { opening_m } = await call("get_gripper_state", {});
  console.log(`closing ${closed.stop_reason}, ${(1000 * opening_m).toFixed(1)} mm open after the lift`);
  const held = await call("get_previous_proposer_state");
  console.log(`held object: ${JSON.stringify(held.held_object_state)}`);
} finally {
  await robot.close();
}
