// expect: returned
// value: []
const scope = globalThis as unknown as Record<string, unknown>;
const wanted = ['process', 'require', 'module', 'exports', 'global', 'window', 'self', 'Buffer', 'fetch', 'XMLHttpRequest', 'WebSocket', 'Worker'];
wanted.push('WebAssembly', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'performance', 'Deno', 'Bun', 'std', 'os', 'bjson', 'scriptArgs');
wanted.push('print', 'load', 'import', 'eval', '__filename', '__dirname', 'structuredClone', 'navigator', 'document', 'bridge', 'host', 'gc');
return wanted.filter((name) => scope[name] !== undefined);
