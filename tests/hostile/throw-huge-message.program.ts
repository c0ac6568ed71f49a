// expect: threw:Error
throw new Error('x'.repeat(5_000_000));
