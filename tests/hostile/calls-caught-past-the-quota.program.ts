// expect: call_quota
for (;;) {
  try {
    await robot.get_robot_state();
  } catch {
    continue;
  }
}
