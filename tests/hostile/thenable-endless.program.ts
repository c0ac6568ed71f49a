// expect: cpu_quota
const thenable = {
  then(resolve: (value: unknown) => void): void {
    resolve(thenable);
  },
};
return await (thenable as unknown as Promise<string>);
