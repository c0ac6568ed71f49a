import type { ArmState, Camera, Frame, GetFrames } from "../../../src/contract/generated/device.js";
import { multiply } from "../../../src/runtime/transforms.js";
import type { Outcome } from "../../device-server/desk.js";
import { badArgument, Refusal } from "../../device-server/refusal.js";
import type { NativeDescription, StreamOf } from "./capabilities.js";
import type { CameraDriver, CameraFrame } from "./drivers.js";

const MOST_CAMERAS = 16;
/** A picture that nobody dated is of now: at most this old, whatever a camera that exposes on demand still holds. */
const MOST_AGE_S = 0.2;

export type FrameReaderOptions = {
  description: NativeDescription;
  cameras: ReadonlyMap<string, CameraDriver>;
  now_s: () => number;
  /** The arm at a past time; null where that is too long ago. */
  armAt: (time_s: number) => ArmState | null;
};

/** Pictures of the rig's cameras, each with the arm as it was at its exposure. */
export class FrameReader {
  readonly #options: FrameReaderOptions;

  constructor(options: FrameReaderOptions) {
    this.#options = options;
  }

  /** Throws Refusal at once for what can never be; ERROR_CAMERA where a camera fails or is late. */
  read({ cameras: names, not_before_s }: GetFrames, deadline_ms: number): Promise<Outcome> {
    const { description, now_s } = this.#options;
    if (names.length < 1 || names.length > MOST_CAMERAS || new Set(names).size !== names.length)
      throw badArgument(`${names.length} camera names; give 1 to ${MOST_CAMERAS}, each once`);
    const known = description.capabilities.cameras;
    const asked = names.map((name) => {
      const camera = known.find((candidate) => candidate.name === name);
      const source = description.streams.get(name);
      if (camera && source) return { camera, source };
      const words = known.map((each) => each.name).join(", ");
      throw badArgument(`no camera ${JSON.stringify(name.slice(0, 64))}; there is: ${words}`);
    });
    if (!Number.isFinite(not_before_s)) throw badArgument(`not_before_s is ${not_before_s}; it must be finite`);
    const left_ms = deadline_ms - performance.now();
    if ((not_before_s - now_s()) * 1e3 > left_ms)
      throw new Refusal(
        "ERROR_CAMERA",
        `no exposure at or after ${not_before_s.toFixed(3)} s before the deadline: it is ${now_s().toFixed(3)} s`,
      );
    return this.#read(asked, Math.max(not_before_s, now_s() - MOST_AGE_S), left_ms);
  }

  async #read(
    asked: readonly { camera: Camera; source: StreamOf }[],
    not_before_s: number,
    deadline_ms: number,
  ): Promise<Outcome> {
    const drivers = [...new Set(asked.map(({ source }) => source.driver))];
    const exposures = new Map(
      await Promise.all(
        drivers.map(async (name): Promise<[string, { frame: CameraFrame; arm: ArmState }]> => {
          const frame = await this.#expose(name, not_before_s, deadline_ms);
          const arm = this.#options.armAt(frame.exposure_time_s);
          if (!arm)
            throw new Refusal(
              "ERROR_CAMERA",
              `camera "${name}" was exposed at ${frame.exposure_time_s.toFixed(3)} s, for which no state of the arm is kept any more`,
            );
          return [name, { frame, arm }];
        }),
      ),
    );
    const parts: Uint8Array[] = [];
    const frames = asked.map(({ camera, source }, part): Frame => {
      const { frame, arm } = exposures.get(source.driver)!;
      parts.push(pixelsOf(frame, source));
      const rides = camera.parent !== "world";
      return {
        camera: camera.name,
        width: camera.width,
        height: camera.height,
        format: camera.format,
        part,
        exposure_time_s: frame.exposure_time_s,
        fx_px: camera.fx_px,
        fy_px: camera.fy_px,
        cx_px: camera.cx_px,
        cy_px: camera.cy_px,
        parent: camera.parent,
        X_parent_camera: camera.X_parent_camera,
        X_world_camera: rides ? multiply(arm.X_world_tcp, camera.X_parent_camera) : camera.X_parent_camera,
        arms_at_exposure: [arm],
      };
    });
    return { body: { frames: { frames } }, parts };
  }

  async #expose(name: string, not_before_s: number, deadline_ms: number): Promise<CameraFrame> {
    const driver = this.#options.cameras.get(name);
    if (!driver) throw new Refusal("ERROR_CAMERA", `camera "${name}" is not open`);
    try {
      return await driver.newest({ not_before_s, deadline_ms });
    } catch (error) {
      throw new Refusal("ERROR_CAMERA", error instanceof Error ? error.message : String(error));
    }
  }
}

function pixelsOf(frame: CameraFrame, { driver, stream }: StreamOf): Uint8Array {
  switch (stream) {
    case "colour":
      return frame.rgb8;
    case "depth":
      if (!frame.depth_m) throw new Refusal("ERROR_CAMERA", `camera "${driver}" gave no depth with its picture`);
      return new Uint8Array(frame.depth_m.buffer, frame.depth_m.byteOffset, frame.depth_m.byteLength);
    default: {
      const grey = frame.infrared?.[stream === "infrared_left" ? "left" : "right"];
      if (!grey) throw new Refusal("ERROR_CAMERA", `camera "${driver}" gave no infrared pair`);
      return greyToRgb(grey);
    }
  }
}

function greyToRgb(grey: Uint8Array): Uint8Array {
  const rgb = new Uint8Array(3 * grey.length);
  for (let i = 0; i < grey.length; i += 1) rgb.fill(grey[i]!, 3 * i, 3 * i + 3);
  return rgb;
}
