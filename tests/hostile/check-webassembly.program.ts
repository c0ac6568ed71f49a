// expect: TS2304
// stage: check
return new WebAssembly.Module(new Uint8Array());
