// expect: threw:Error
// line: 5
return {
  get state(): string {
    throw new Error('no state');
  },
};
