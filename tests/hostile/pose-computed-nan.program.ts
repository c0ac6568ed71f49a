// expect: returned
// value: "robot.follow_path: argument.poses[1].y is NaN; numbers must be finite"
// calls: 0
const pose = { x: 0.3, y: 0, z: 0.2, qx: 1, qy: 0, qz: 0, qw: 0 };
const result = await robot.follow_path({ poses: [pose, { ...pose, y: Math.sqrt(-1) }] });
return result.message;
