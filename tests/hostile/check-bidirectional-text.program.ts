// expect: TS1127 TS2304 TS1005
// stage: check
const a = 1; ‮ return a; ⁦
