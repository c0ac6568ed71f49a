// expect: returned
// value: "invalid_argument"
// calls: 0
const request: { arm?: string; self?: unknown } = {};
request.self = request;
return (await robot.goto_home(request)).status;
