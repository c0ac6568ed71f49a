// expect: threw:TypeError
// calls: 0
const { proxy, revoke } = Proxy.revocable({} as { arm?: string }, {});
revoke();
await robot.goto_home(proxy);
