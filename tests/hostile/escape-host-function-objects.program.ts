// expect: returned
// value: []
// everything reachable from the scope by any property or prototype; nothing may be callable that is neither a built-in nor ours
const seen = new Set<object>();
const odd: string[] = [];
const visit = (value: unknown, path: string): void => {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value) || seen.size > 5000) return;
  seen.add(value);
  if (/bridge|host|controls|settle|__/.test(path.replace(/__(proto|defineGetter|defineSetter|lookupGetter|lookupSetter)__/g, ''))) odd.push(path);
  for (const key of Reflect.ownKeys(value)) {
    const descriptor = Object.getOwnPropertyDescriptor(value, key);
    const name = `${path}.${String(key)}`;
    if (descriptor !== undefined && 'value' in descriptor) visit(descriptor.value, name);
    visit(descriptor?.get, `${name}.get`);
    visit(descriptor?.set, `${name}.set`);
  }
  visit(Object.getPrototypeOf(value), `${path}.prototype`);
};
for (const root of [robot, console, sleep, RobotError]) visit(root, 'root');
return odd;
