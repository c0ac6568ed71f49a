// expect: returned
// value: []
const scope = globalThis as unknown as Record<string, Record<string, (...args: unknown[]) => unknown>>;
const tries: (() => unknown)[] = [
  () => scope.process!.binding!('fs'),
  () => scope.require!.call!(null, 'node:fs'),
  () => scope.std!.open!('/etc/passwd', 'r'),
  () => scope.os!.exec!(['id']),
  () => scope.Deno!.readTextFileSync!('/etc/passwd'),
  () => new (scope.WebSocket as unknown as new (url: string) => unknown)('ws://127.0.0.1'),
  () => scope.process!.env,
];
return tries.flatMap((attempt) => {
  try {
    return [typeof attempt()];
  } catch {
    return [];
  }
});
