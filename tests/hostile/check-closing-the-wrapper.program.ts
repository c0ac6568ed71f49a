// expect: unbalanced_braces
// stage: check
return 1;
});
const outside = globalThis;
(async () => {
