// expect: unawaited_calls
// calls: 0
void robot.goto_home();
return 'done';
