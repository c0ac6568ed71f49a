// expect: returned
// value: "invalid_argument"
// calls: 0
const request = { arm: 'left', toJSON: () => ({ arm: 'right' }) };
return (await robot.goto_home(request)).status;
