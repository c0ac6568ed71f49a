// expect: global_refused
// stage: check
return new Function('return this')();
