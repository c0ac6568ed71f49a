import type { DeviceErrorCode } from "../../src/contract/generated/device.js";

/** The way a verb says no: nothing was done. The message names the value, the limit and the mend. */
export class Refusal extends Error {
  constructor(
    readonly code: DeviceErrorCode,
    message: string,
  ) {
    super(message);
    this.name = "Refusal";
  }
}

export const badArgument = (message: string): Refusal => new Refusal("ERROR_BAD_ARGUMENT", message);
