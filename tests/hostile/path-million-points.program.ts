// expect: returned
// value: "budget_exhausted"
// calls: 0
const pose = { x: 0.3, y: 0, z: 0.2, qx: 1, qy: 0, qz: 0, qw: 0 };
const result = await robot.follow_path({ poses: new Array(1_000_000).fill(pose) });
return result.status;
