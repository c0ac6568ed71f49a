// expect: returned
// value: 1
const a: Record<string, unknown> = {};
a.a = a;
a.b = [a, a, a, a];
a.c = new Proxy(a, {});
console.log(a, [a], { a });
return 1;
