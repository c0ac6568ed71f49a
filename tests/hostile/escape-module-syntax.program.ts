// expect: threw:SyntaxError threw:TypeError
const load = (globalThis as unknown as { require(name: string): unknown }).require;
return load('fs');
