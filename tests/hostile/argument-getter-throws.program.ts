// expect: threw:Error
// line: 6
// calls: 0
const request = {
  get arm(): string {
    throw new Error('not today');
  },
};
await robot.goto_home(request);
