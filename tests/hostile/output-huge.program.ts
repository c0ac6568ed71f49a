// expect: output_quota
for (;;) console.log('x'.repeat(1000));
