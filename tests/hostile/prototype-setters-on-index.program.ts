// expect: call_quota
for (let i = 0; i < 300; i++) Object.defineProperty(Object.prototype, i, { set: () => {}, configurable: true });
for (;;) await robot.get_robot_state();
