// expect: returned
// value: 1
console.log('x'.repeat(1_000_000));
console.log(new Array(100_000).fill(1));
return 1;
