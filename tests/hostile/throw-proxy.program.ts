// expect: threw:ThrownValue
throw new Proxy({}, {
  get(): never {
    throw new Error('again');
  },
});
