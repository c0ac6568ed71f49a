// expect: threw:ThrownValue
throw () => {};
