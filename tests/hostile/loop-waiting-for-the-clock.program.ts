// expect: cpu_quota
// time passes only while the program awaits
const end = Date.now() + 1000;
while (Date.now() < end) {}
