// expect: returned
// value: 1
console.log('x'.repeat(10_000_000));
console.log(new Array(1_000_000).fill(1));
return 1;
