// expect: TS2304
// stage: check
return await fetch('http://127.0.0.1:1/');
