// expect: unawaited_calls
return await Promise.race([robot.follow_path({ poses: [] }).then(() => 'moved'), sleep(0.01).then(() => 'impatient')]);
