// expect: import_refused
// stage: check
const fs = await import('node:fs');
return fs;
