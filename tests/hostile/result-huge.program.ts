// expect: result_too_large
return 'x'.repeat(1_000_000);
