/** How secrets are written where they must not be found as they are: by exclusive or with 0xa5, in hexadecimal. */
export const veiled = (bytes: Uint8Array): string => Buffer.from(bytes.map((byte) => byte ^ 0xa5)).toString("hex");

/** Ways in which a number may lie in arguments, messages and memory: as text, as a double, as a varint of protobuf. */
export function numberNeedles(name: string, value: number): Record<string, string> {
  const double = Buffer.alloc(8);
  double.writeDoubleLE(value);
  const varint: number[] = [];
  for (let rest = BigInt(value); rest > 0n; rest >>= 7n) varint.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
  return {
    [`${name} as text`]: veiled(Buffer.from(String(value))),
    [`${name} as a double`]: veiled(double),
    [`${name} as a varint`]: veiled(Buffer.from(varint)),
  };
}

/** A token as bytes and as hexadecimal text. */
export const tokenNeedles = (token: Uint8Array): Record<string, string> => ({
  "token as bytes": veiled(token),
  "token as text": veiled(Buffer.from(Buffer.from(token).toString("hex"))),
});
