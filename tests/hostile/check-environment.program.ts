// expect: TS2591
// stage: check
return process.env;
