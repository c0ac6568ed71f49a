// expect: TS2339
// stage: check
// @ts-ignore
await robot.fly_home();
