// expect: returned
// value: []
const found: unknown[] = [];
Object.defineProperty(Error, 'prepareStackTrace', { value: (_e: unknown, frames: unknown) => found.push(frames) });
Object.defineProperty(Error, 'captureStackTrace', { value: (e: unknown) => found.push(e) });
void new Error('x').stack;
try {
  await robot.get_current_image_path({ view: 'scene' });
} catch (error) {
  void (error as Error).stack;
}
const probe = function (this: unknown): unknown {
  try {
    return (probe as unknown as { caller: unknown }).caller;
  } catch {
    return undefined;
  }
};
if (typeof probe() === 'function') found.push('caller');
return found;
