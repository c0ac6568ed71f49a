// expect: TS2591
// stage: check
process.exit(1);
