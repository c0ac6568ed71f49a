import { Skill2RealError } from "../../contract/errors.js";
import type { Frame } from "../../contract/generated/device.js";
import type { DeviceFrame } from "./device.js";

/** Joins frames with their raw parts; pixels are views of the received message where its alignment allows it. */
export function framesWithPixels(frames: readonly Frame[], parts: readonly Buffer[]): DeviceFrame[] {
  return frames.map((frame) => {
    const part = parts[frame.part];
    const bytes_per_pixel = frame.format === "rgb8" ? 3 : 4;
    const expected = frame.width * frame.height * bytes_per_pixel;
    if (!part || part.byteLength !== expected) {
      throw new Skill2RealError(
        "protocol_mismatch",
        `the frame of ${frame.camera} has ${part?.byteLength ?? 0} bytes; ${frame.width} x ${frame.height} ${frame.format} is ${expected}`,
      );
    }
    if (frame.format === "rgb8") return { ...frame, format: frame.format, pixels: part };
    if (frame.format !== "depth_f32")
      throw new Skill2RealError(
        "protocol_mismatch",
        `the frame of ${frame.camera} has the unknown format "${frame.format}"`,
      );
    const bytes = part.byteOffset % 4 === 0 ? part : new Uint8Array(part);
    return {
      ...frame,
      format: frame.format,
      pixels: new Float32Array(bytes.buffer, bytes.byteOffset, frame.width * frame.height),
    };
  });
}
