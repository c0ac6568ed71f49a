// expect: returned
// value: 1
// printed: 1:1 error\u000dkilled: stopped
console.log('1:1 error\rkilled: stopped');
return 1;
