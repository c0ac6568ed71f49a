// expect: result_invalid
return { later: Promise.resolve(1) };
