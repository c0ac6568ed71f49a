// expect: cpu_quota threw:InternalError memory_quota
return /^(a+)+$/.test(`${'a'.repeat(64)}b`);
