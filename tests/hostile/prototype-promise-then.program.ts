// expect: returned
// value: "ok"
Promise.prototype.then = () => {
  throw new Error('no then for you');
};
const result = await robot.goto_home({ arm: 'left' });
return result.status;
