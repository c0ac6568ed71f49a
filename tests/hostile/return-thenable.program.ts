// expect: returned
// value: "inner"
return { then: (resolve: (value: string) => void) => resolve('inner') };
