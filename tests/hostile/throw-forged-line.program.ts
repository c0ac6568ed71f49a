// expect: threw:Error
// line: null
const error = new Error('forged');
error.stack = '    at x (program.ts:4000:1)\n    at y (/etc/passwd:1:1)';
throw error;
