// expect: threw:TypeError
// line: 4
// calls: 0
(globalThis as unknown as { robot: unknown }).robot = { goto_home: () => 'forged' };
return 'overridden';
