// expect: threw:TypeError
const run = (globalThis as unknown as Record<string, (text: string) => unknown>)['ev' + 'al'];
return run!('1 + 1');
