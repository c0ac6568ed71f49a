// expect: threw:SyntaxError threw:InternalError threw:RangeError
return JSON.parse('['.repeat(500_000));
