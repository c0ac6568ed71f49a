// A program that never looks: it grasps at the middle of the work area and lets go at another fixed place.
const down = { qx: 1, qy: 0, qz: 0, qw: 0 };
await robot.gripper_goto({ opening_m: 0.09 });
await robot.goto_pose({ pose: { x: 0, y: 0.45, z: 0.2, ...down } });
await robot.goto_pose({ pose: { x: 0, y: 0.45, z: 0.03, ...down }, motion: "linear", contact_stop: { force_n: 10 } });
await robot.gripper_goto({ opening_m: 0 });
await robot.goto_pose({ pose: { x: 0, y: 0.45, z: 0.2, ...down }, motion: "linear" });
await robot.goto_pose({ pose: { x: 0.2, y: 0.45, z: 0.2, ...down } });
await robot.goto_pose({ pose: { x: 0.2, y: 0.45, z: 0.05, ...down }, motion: "linear", contact_stop: { force_n: 10 } });
await robot.gripper_goto({ opening_m: 0.09 });
await robot.goto_pose({ pose: { x: 0.2, y: 0.45, z: 0.2, ...down }, motion: "linear" });
await robot.goto_home({});
return { finish: "supported", evidence: "none: it never looked" };
