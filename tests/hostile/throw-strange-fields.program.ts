// expect: threw:ThrownValue
throw Object.assign(new Error('x'), { name: { toString: () => 'y' }, message: Symbol('z'), code: 5, stack: 7 });
