// expect: returned
// value: "invalid_argument"
// calls: 0
const request: { arm?: string; a?: unknown; b?: unknown } = {};
request.a = [request, request];
request.b = request;
return (await robot.goto_home(request)).status;
