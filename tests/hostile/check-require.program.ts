// expect: TS2591
// stage: check
return require('node:fs').readFileSync('/etc/passwd', 'utf8');
