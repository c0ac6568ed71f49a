// expect: returned
// value: 1
// printed: \u001b[2J\u001b]0;owned\u0007
console.log('\u001b[2J\u001b]0;owned\u0007');
return 1;
