// expect: returned
// value: "invalid_argument"
// calls: 0
let deep: unknown = 1;
for (let i = 0; i < 100_000; i++) deep = [deep];
return (await robot.goto_home({ arm: 'left', deep } as { arm: string })).status;
