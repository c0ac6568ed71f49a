// expect: threw:ThrownValue
throw undefined;
