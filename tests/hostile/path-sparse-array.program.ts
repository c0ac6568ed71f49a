// expect: returned
// value: "budget_exhausted"
// calls: 0
const poses: [] = [];
(poses as { length: number }).length = 4_000_000_000;
const result = await robot.follow_path({ poses });
return result.status;
