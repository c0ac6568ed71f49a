// expect: TS2304
// stage: check
return new Worker('x');
