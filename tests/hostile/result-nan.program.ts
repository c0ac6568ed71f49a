// expect: result_invalid
return { error_m: 0 / 0 };
