// expect: memory_quota
return new Uint8Array(1_500_000_000).length;
