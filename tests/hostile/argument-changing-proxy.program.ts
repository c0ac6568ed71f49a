// expect: returned
// value: "ok"
// calls: 1
// no_argument: second
let reads = 0;
const request = new Proxy({ arm: 'first' }, { get: (_target, key) => (key !== 'arm' ? undefined : reads++ === 0 ? 'first' : 'second') });
return (await robot.goto_home(request)).status;
