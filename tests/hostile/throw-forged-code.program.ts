// expect: threw:protective_stop
throw new RobotError('protective_stop', 'says the program');
