// expect: returned
// value: ["kept", "kept", "kept", "ok"]
const attempt = (action: () => void): string => {
  try {
    action();
    return 'changed';
  } catch {
    return 'kept';
  }
};
const target = robot as unknown as Record<string, unknown>;
return [
  attempt(() => Object.defineProperty(target, 'goto_home', { value: () => 'forged' })),
  attempt(() => delete target.goto_home),
  attempt(() => Object.setPrototypeOf(target, { fly: 1 })),
  (await robot.goto_home({ arm: 'left' })).status,
];
