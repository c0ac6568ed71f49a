// expect: returned
// value: []
type Maker = { constructor: { constructor: (text: string) => () => unknown } };
const starts: unknown[] = [robot, robot.goto_home, console, console.log, sleep, RobotError, Promise, Math.random, Date, {}, [], '', 1, () => 1, async () => 1];
const out: string[] = [];
for (const start of starts) {
  try {
    const made = (start as Maker).constructor.constructor('return typeof process');
    out.push(String(made()));
  } catch {
    continue;
  }
}
return out;
