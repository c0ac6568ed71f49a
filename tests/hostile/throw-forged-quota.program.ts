// expect: threw:InternalError
throw Object.assign(new Error('out of memory'), { name: 'InternalError' });
