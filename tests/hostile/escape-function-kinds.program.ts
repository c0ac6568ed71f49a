// expect: returned
// value: []
const kinds = [function () {}, async function () {}, function* () {}, async function* () {}, () => {}, async () => {}, class {}];
const out: string[] = [];
for (const kind of kinds) {
  for (let o: object | null = kind; o !== null; o = Object.getPrototypeOf(o) as object | null) {
    try {
      const made = (o.constructor as unknown as (text: string) => unknown)('return 1');
      if (typeof made === 'function') out.push(String(o));
    } catch {
      continue;
    }
  }
}
return out;
