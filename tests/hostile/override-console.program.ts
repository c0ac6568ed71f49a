// expect: returned
// value: "kept"
// printed: seen
try {
  (console as { log: unknown }).log = () => {};
} catch {
  console.log('seen');
  return 'kept';
}
return 'changed';
