// expect: threw:ThrownValue
throw null;
