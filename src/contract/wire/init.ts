/**
 * What an encoder takes for a message type: any field may be left out (its proto3 default is sent), and lists may be
 * read-only. Of a oneof, set one member.
 */
export type Init<T> = T extends Uint8Array
  ? T
  : T extends readonly (infer U)[]
    ? readonly Init<U>[]
    : T extends object
      ? { readonly [K in keyof T]?: Init<T[K]> }
      : T;
