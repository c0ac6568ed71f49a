import type { RigInput } from "./rig-schema.js";

/**
 * The rig that emulators play: what its operator measured. The plant behind them differs by what its seed hides
 * (kinematics, hand-eye error). Its launcher fills in the addresses.
 */
export const EMULATED_RIG: RigInput = {
  arm: {
    host: "127.0.0.1",
    realtime: "ignore",
    // Its controller is a process of this machine. A virtual machine's processor may be taken away for 10 ms, even from
    // what runs at the highest priority; a robot's own controller is never taken away.
    stale_cycles: 12,
    payload_kg: 0.65,
    payload_cog_m: [0.0034, 0, 0.072],
    X_flange_tcp: { z: 0.17 },
    speed_cap: 1,
    // Where the bench has the arm at its start and after each reset.
    home_q_rad: [-1.8647, -1.5352, 1.1116, -1.2809, -1.5305, 1.2796],
    // The wrist camera 0.6 m above the work area, straight down, image up = +y of world.
    look_q_rad: [-1.8647, -1.5352, 1.1116, -1.2809, -1.5305, 1.2796],
  },
  gripper: { path: "/dev/null" },
  workspace: { table_z_m: 0, min_xyz: [-0.5, 0.12, 0], max_xyz: [0.5, 0.8, 0.6] },
  views: { topdown: "wrist", scene: "scene", wrist: "wrist" },
  cameras: {
    wrist: {
      source: "plant",
      serial: "130322270405",
      mount: "tcp",
      X_parent_camera: {
        x: 0.062,
        y: 0.009,
        z: -0.115,
        qx: -0.04932527561613,
        qy: 0.04932527561613,
        qz: -0.7053843046066,
        qw: 0.7053843046066,
      },
    },
    scene: {
      source: "plant",
      serial: "819312070435",
      mount: "world",
      X_parent_camera: {
        x: 0.75,
        y: 1.31,
        z: 0.79,
        qx: -0.282002743072,
        qy: -0.8123077146352,
        qz: 0.4822836919396,
        qw: 0.1674307920699,
      },
    },
  },
};
