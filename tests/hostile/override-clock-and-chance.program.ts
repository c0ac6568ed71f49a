// expect: returned
// value: ["kept", "kept", "kept"]
const attempt = (action: () => void): string => {
  try {
    action();
    return 'changed';
  } catch {
    return 'kept';
  }
};
return [attempt(() => { Math.random = () => 4; }), attempt(() => { Date.now = () => 0; }), attempt(() => { (globalThis as { Date: unknown }).Date = 1; })];
