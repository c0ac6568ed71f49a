// expect: TS2339
// stage: check
await robot.fly_home();
