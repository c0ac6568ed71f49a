// expect: result_too_large
return new Array(1_000_000).fill(0);
