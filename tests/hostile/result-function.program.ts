// expect: result_invalid
return () => 1;
