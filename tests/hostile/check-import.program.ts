// expect: import_refused
// stage: check
import { readFileSync } from 'node:fs';
return readFileSync('/etc/passwd', 'utf8');
