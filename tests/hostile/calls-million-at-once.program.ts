// expect: call_quota
// calls: 0
await Promise.all(Array.from({ length: 1_000_000 }, () => robot.get_robot_state()));
