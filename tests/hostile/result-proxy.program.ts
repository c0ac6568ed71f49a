// expect: returned cpu_quota result_too_large
return new Proxy({} as Record<string, unknown>, { ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }), get: () => 7 });
