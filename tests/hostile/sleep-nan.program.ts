// expect: threw:invalid_argument
// line: 3
await sleep(NaN);
