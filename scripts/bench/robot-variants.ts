import type { Capabilities } from "../../src/contract/generated/device.js";

/** What a robot may say of itself that a prompt depends on: each feature with and without. */
export const robotVariants = (plain: Capabilities): Capabilities[] =>
  [false, true].flatMap((measured) =>
    [0, 400].flatMap((step_limit) =>
      [false, true].map((press) => ({
        ...plain,
        grippers: plain.grippers.map((gripper) => ({ ...gripper, measured })),
        step_limit,
        features: [...plain.features.filter((name) => name !== "press"), ...(press ? ["press"] : [])],
      })),
    ),
  );
