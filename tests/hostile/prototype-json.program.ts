// expect: returned
// value: {"x": 1}
// no_argument: forged
JSON.stringify = () => 'forged';
JSON.parse = () => 'forged';
String.prototype.slice = () => 'forged';
Reflect.apply = () => 'forged';
await robot.goto_home({ arm: 'left' });
return { x: 1 };
