// expect: unawaited_calls
// calls: 0
const background = async (): Promise<void> => {
  for (;;) await robot.goto_home({ arm: 'left' });
};
void background();
return 'done';
