// Looks at a simulated table through the public operations: a view, its depth, a thing by its words, its size.
//   node examples/01-look.mjs [seed]
import { openSimulatedSession } from "skill2real";

const robot = await openSimulatedSession({ seed: Number(process.argv[2] ?? 7), folder: `runs/look-${Date.now()}` });
try {
  console.log(`task: ${robot.instruction}`);
  const view = await robot.call("get_topdown_stereo_view");
  console.log(`view ${view.observation_ref}: ${view.width} x ${view.height}, ${view.left_image_path}`);

  const depth = await robot.call("get_foundation_stereo_depth", { observation_ref: view.observation_ref });
  const percent = (100 * depth.valid_fraction).toFixed(0);
  console.log(`depth ${depth.depth_ref}: ${percent} % of the pixels, ${depth.near_m} to ${depth.far_m} m`);

  const [, thing] = /the ([a-z ]+?) (?:into|onto|in|on) the/.exec(robot.instruction);
  const found = await robot.call("localize", { observation_ref: view.observation_ref, query: thing });
  console.log(`"${thing}" is the ${found.label} at pixel (${found.pixel.u}, ${found.pixel.v})`);

  const mask = await robot.call("get_sam_mask_from_box", { observation_ref: view.observation_ref, box: found.box });
  const refs = { mask_ref: mask.mask_ref, depth_ref: depth.depth_ref };
  const { upright_box, top_z } = await robot.call("measure_visible_geometry", refs);
  const size_mm = upright_box.size.map((side_m) => (1000 * side_m).toFixed(0)).join(" x ");
  console.log(
    `measured: ${size_mm} mm at x ${upright_box.center[0]} m, y ${upright_box.center[1]} m, top at ${top_z} m`,
  );
} finally {
  await robot.close();
}
