// expect: returned
// value: "invalid_argument"
// calls: 0
const pose = { x: 0.3, y: 0, z: 0.2, qx: 1, qy: 0, qz: 0, qw: 0 };
const result = await robot.goto_pose({ pose: { ...pose, x: NaN } });
return result.status;
