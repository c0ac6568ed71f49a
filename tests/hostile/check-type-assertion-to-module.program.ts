// expect: import_refused
// stage: check
type Fs = typeof import('node:fs');
return null as unknown as Fs;
