// expect: threw:invalid_argument
// line: 3
await sleep(1e12);
