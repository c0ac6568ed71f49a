// expect: call_quota
for (let i = 0; i < 300; i++) void robot.get_robot_state();
await sleep(1);
