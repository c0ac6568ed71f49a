// expect: global_refused
// stage: check
return eval('1 + 1');
