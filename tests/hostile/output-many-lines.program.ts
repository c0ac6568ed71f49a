// expect: output_quota
for (;;) console.log('');
