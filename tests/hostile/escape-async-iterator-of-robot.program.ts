// expect: returned
// value: 18
const names = new Set<string>();
for (const key of Reflect.ownKeys(robot)) names.add(String(key));
for (const key in robot) names.add(key);
return names.size;
