// expect: returned
// value: ["ok", 1]
for (const key of ['push', 'map', 'join', 'forEach', 'slice', 'indexOf'] as const) {
  Object.defineProperty(Array.prototype, key, { value: () => 'broken' });
}
Array.prototype[Symbol.iterator] = () => {
  throw new Error('no iteration');
};
const result = await robot.goto_home({ arm: 'left' });
console.log('still', 'prints');
return [result.status, 1];
