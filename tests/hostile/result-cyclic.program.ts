// expect: result_invalid
const a: Record<string, unknown> = {};
a.a = a;
return a;
