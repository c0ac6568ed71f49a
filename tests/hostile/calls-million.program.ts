// expect: call_quota
for (let i = 0; i < 1_000_000; i++) await robot.get_robot_state();
