// expect: TS2304
// stage: check
setTimeout(() => {}, 1);
