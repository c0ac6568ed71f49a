import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { Router } from "zeromq";
import { isSkill2RealError, type Skill2RealError } from "../../contract/errors.js";
import { compiledModule, PACKAGE_ROOT, packageFile } from "../../contract/package-root.js";
import { CameraDriver, type CameraEvent, type CameraOptions } from "./camera.js";

const BAG = join(PACKAGE_ROOT, "..", "shared", "data", "realsense", "d435_single_depth_color_640x480.bag");
const LIBRARY = packageFile(".deps", "librealsense-2.55.1", "librealsense2.so");
const RGBD = { color: {}, depth: {} };

const open: CameraDriver[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((camera) => camera.close()));
});

async function camera(options: Partial<CameraOptions> & { source: CameraOptions["source"] }): Promise<CameraDriver> {
  const driver = await CameraDriver.open({ name: "test", streams: RGBD, ...options });
  open.push(driver);
  return driver;
}

const monotonic_s = (): number => Number(process.hrtime.bigint()) / 1e9;
const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
const refusal = (work: Promise<unknown>): Promise<unknown> => work.then(() => null).catch((error: unknown) => error);
const fault = (driver: CameraDriver): Promise<Skill2RealError> => new Promise((resolve) => driver.onFault(resolve));

async function until(what: string, holds: () => boolean, timeout_ms = 5000): Promise<void> {
  for (const end = performance.now() + timeout_ms; !holds(); await sleep(20))
    if (performance.now() > end) throw new Error(`${what} did not come true within ${timeout_ms} ms`);
}

const software = (how: Record<string, unknown> = {}, live: Record<string, unknown> = {}) =>
  ({ kind: "software", software: how, ...live }) as CameraOptions["source"];

describe("options", () => {
  it("are refused with the key and a suggestion", async () => {
    const wrong = { name: "a", source: { kind: "plant", adress: "x", address: "x", camera: "y" }, streams: RGBD };
    await expect(CameraDriver.open(wrong as CameraOptions)).rejects.toThrow(/Did you mean "address"/);
    const none: CameraOptions = { name: "a", source: { kind: "plant", address: "x", camera: "y" }, streams: {} };
    expect(isSkill2RealError(await refusal(CameraDriver.open(none)), "bad_argument")).toBe(true);
  });

  it("a library that is not there is said with the mend", async () => {
    const source = { kind: "realsense", library: "/nonexistent/librealsense2.so", serial: "1" } as const;
    const error = await refusal(camera({ source }));
    expect(isSkill2RealError(error, "camera_library")).toBe(true);
    expect(String(error)).toContain("Set `library`");
  });
});

describe.skipIf(!existsSync(LIBRARY) || !existsSync(BAG))("the recording of a real D435 (skipped without it)", () => {
  it("plays, again and again, with the file's calibration and depth registered to colour", async () => {
    const driver = await camera({ source: { kind: "recording", file: BAG } });
    expect(driver.info).toMatchObject({ serial: "728612070259", product_id: "0B07", domain: "hardware_clock" });
    expect(driver.info.units_m).toBeCloseTo(0.001, 9);
    expect(driver.facts.left).toMatchObject({ width: 640, height: 480 });
    expect(driver.facts.left.fx_px).toBeCloseTo(613.204, 3);
    expect(driver.facts.X_left_depth?.[3]).toBeCloseTo(0.01431, 5);
    let last_s = 0;
    for (let round = 0; round < 3; round += 1) {
      const asked_s = monotonic_s();
      const frame = await driver.newest({ not_before_s: asked_s, deadline_ms: 5000 });
      expect(frame.earliest_time_s).toBeGreaterThanOrEqual(asked_s);
      expect(frame.exposure_time_s).toBeGreaterThan(last_s);
      expect(frame.exposure_time_s).toBeLessThanOrEqual(frame.arrival_time_s);
      expect(frame).toMatchObject({ frame_number: 162, gaps: 0, depth_registered: true });
      last_s = frame.exposure_time_s;
      const depths = frame.depth_m ?? new Float32Array();
      const known = depths.filter((z) => !Number.isNaN(z));
      expect(depths.length).toBe(640 * 480);
      expect(known.length / depths.length).toBeCloseTo(0.977, 2);
      for (const z of known) if (!(z > 0.3 && z < 3.3)) throw new Error(`a depth of ${z} m`);
      expect(new Set(frame.rgb8).size).toBeGreaterThan(100);
      driver.release(frame);
    }
  });

  it("gives depth as the sensor saw it where registration is off", async () => {
    const driver = await camera({ source: { kind: "recording", file: BAG }, register_depth: false });
    const frame = await driver.newest({ not_before_s: 0, deadline_ms: 3000 });
    expect(frame.depth_registered).toBe(false);
    const known = (frame.depth_m ?? new Float32Array()).filter((z) => !Number.isNaN(z));
    expect(known.length / (640 * 480)).toBeCloseTo(0.933, 3);
    expect(
      Math.min(
        ...known.subarray(0, 0),
        known.reduce((a, b) => Math.min(a, b)),
      ),
    ).toBeCloseTo(0.341, 5);
  });

  it("that does not loop never hands its last exposure out as a new one", async () => {
    const driver = await camera({ source: { kind: "recording", file: BAG, loop: false } });
    await driver.newest({ not_before_s: 0, deadline_ms: 3000 });
    await sleep(500);
    const late = refusal(driver.newest({ not_before_s: monotonic_s(), deadline_ms: 400 }));
    expect(isSkill2RealError(await late, "deadline_exceeded")).toBe(true);
    await expect(driver.newest({ not_before_s: 0, deadline_ms: 400 })).resolves.toBeDefined();
  });

  it("a missing file is said", async () => {
    const error = await refusal(camera({ source: { kind: "recording", file: "/nonexistent.bag" } }));
    expect(isSkill2RealError(error, "camera_not_found")).toBe(true);
  });
});

describe.skipIf(!existsSync(LIBRARY))(
  "the live path, driven by the library's software device (skipped without it)",
  () => {
    it("gives newest frames, infrared pair and depth in the device's own units", async () => {
      const driver = await camera({
        source: software({ product_id: "0B5B", units_m: 0.0001, depth_m: 0.32, usb_type: "2.1" }),
        streams: { ...RGBD, infrared: {} },
      });
      expect(driver.info).toMatchObject({ has_colour_sensor: false, colour_from_left_imager: true });
      expect(driver.info.warnings.join()).toContain("usb2");
      expect(driver.facts.infrared?.baseline_m).toBeCloseTo(0.05, 6);
      const frames = [];
      for (let i = 0; i < 5; i += 1)
        frames.push(await driver.newest({ not_before_s: monotonic_s(), deadline_ms: 2000 }));
      for (const [i, frame] of frames.entries()) {
        expect(frame.units_m).toBeCloseTo(0.0001, 9);
        expect(frame.depth_m?.[240 * 640 + 320]).toBeCloseTo(0.32, 6);
        expect(frame.depth_m?.[0]).toBeNaN();
        expect(frame.rgb8[0]).toBe(frame.frame_number & 255);
        expect(frame.infrared?.left.length).toBe(640 * 480);
        expect(frame.frame_number).toBeGreaterThan(frames[i - 1]?.frame_number ?? 0);
      }
    });

    it("rectifies a distorted colour image, and registers depth to the rectified one", async () => {
      const bent = {
        model: "modified_brown_conrady",
        coeffs: [-0.05, 0.06, 0.001, -0.001, 0],
        X_color_depth_t_m: [0.015, 0, 0],
      };
      const driver = await camera({ source: software(bent) });
      const frame = await driver.newest({ not_before_s: 0, deadline_ms: 2000 });
      const raw = await camera({ name: "raw", source: software(bent), rectify: false });
      const asIs = await raw.newest({ not_before_s: 0, deadline_ms: 2000 });
      // Green is the column: in the corner the lens moved it, in the middle it did not.
      const green = (f: typeof frame, u: number, v: number) => f.rgb8[(v * 640 + u) * 3 + 1] ?? -1;
      expect(Math.abs(green(frame, 320, 240) - green(asIs, 320, 240))).toBeLessThanOrEqual(1);
      expect(Math.abs(green(frame, 630, 470) - green(asIs, 630, 470))).toBeGreaterThan(1);
      expect(frame.depth_m?.[240 * 640 + 400]).toBeCloseTo(0.5, 6);
      expect(driver.info.planes.color?.model).toBe("modified_brown_conrady");
    });

    it("counts frames that never came, across the 32-bit wrap of the device's clock", async () => {
      // The counter wraps a second after the start; three frames are skipped at the fortieth.
      const driver = await camera({ source: software({ first_stamp_ms: 4294967.296 - 1000, skip_at: 40 }) });
      let frame = await driver.newest({ not_before_s: 0, deadline_ms: 2000 });
      const before = frame;
      while (frame.frame_number < 60) {
        const next = await driver.newest({ not_before_s: frame.exposure_time_s + 0.001, deadline_ms: 2000 });
        expect(next.exposure_time_s).toBeGreaterThan(frame.exposure_time_s);
        frame = next;
      }
      expect(frame.gaps).toBeGreaterThanOrEqual(3);
      expect(frame.gaps).toBeLessThan(20);
      expect(frame.clock_restarts).toBe(0);
      const periods = frame.frame_number - before.frame_number;
      expect(frame.exposure_time_s - before.exposure_time_s).toBeGreaterThan((periods - 6) / 30);
      expect(frame.stamp_s).toBeLessThan(before.stamp_s);
    });

    it("a change of the stamps' clock begins a new map and is told with each frame", async () => {
      const driver = await camera({ source: software({ domain_at: 30, metadata: false }) });
      expect(driver.info.warnings.join()).toContain("metadata");
      const first = await driver.newest({ not_before_s: 0, deadline_ms: 2000 });
      expect(first.domain).toBe("hardware_clock");
      let frame = first;
      for (let i = 0; frame.domain === "hardware_clock" && i < 100; i += 1)
        frame = await driver.newest({ not_before_s: monotonic_s(), deadline_ms: 2000 });
      expect(frame.domain).toBe("system_time");
      expect(frame.clock_restarts).toBe(1);
      expect(Math.abs(frame.exposure_time_s - monotonic_s())).toBeLessThan(1);
    });

    it.each(["restart", "reset", "reconnect"])("recovers from a stall that a %s heals", async (heals) => {
      const driver = await camera({ source: software({ stall_at: 15, heals }, { reset_wait_s: 4 }), stall_s: 0.3 });
      const events: CameraEvent[] = [];
      driver.onEvent((event) => events.push(event));
      await until("recovery", () => events.at(-1)?.code === "recovered", 10_000);
      const step = { restart: "restart_stream", reset: "hardware_reset", reconnect: "wait_for_device" }[heals];
      expect(events.map(({ code }) => code)).toContain(step);
      const frame = await driver.newest({ not_before_s: monotonic_s(), deadline_ms: 2000 });
      expect(frame.exposure_time_s).toBeLessThanOrEqual(frame.arrival_time_s);
      expect(driver.fault).toBeNull();
    });

    it("a stall that nothing heals is this camera's fault, with its code, for every call that waits", async () => {
      const driver = await camera({ source: software({ stall_at: 15 }, { reset_wait_s: 1 }), stall_s: 0.3 });
      const waiting = refusal(driver.newest({ not_before_s: monotonic_s() + 1, deadline_ms: 20_000 }));
      expect((await fault(driver)).code).toBe("camera_stalled");
      expect(isSkill2RealError(await waiting, "camera_stalled")).toBe(true);
      expect(await refusal(driver.newest({ not_before_s: 0, deadline_ms: 1 }))).toBe(driver.fault);
    });

    it("a library that hangs ends the process and nothing else", async () => {
      const driver = await camera({ source: software({ hang_at: 15 }) });
      expect((await fault(driver)).code).toBe("camera_hung");
      await until("the process's end", () => !alive(driver.pid ?? 0));
    });

    it.each([
      ["SIGKILL", "camera_died"],
      ["SIGSTOP", "camera_hung"],
    ] as const)(
      "%s of the process is %s while this event loop lives and another camera goes on",
      async (signal, code) => {
        const driver = await camera({ source: software() });
        const other = await camera({ name: "other", source: software({}, { serial: "OTHER" }) });
        let ticks = 0;
        const timer = setInterval(() => (ticks += 1), 10);
        onTestFinished(() => clearInterval(timer));
        const waiting = refusal(driver.newest({ not_before_s: monotonic_s() + 60, deadline_ms: 60_000 }));
        process.kill(driver.pid ?? 0, signal);
        expect((await fault(driver)).code).toBe(code);
        expect(isSkill2RealError(await waiting, code)).toBe(true);
        await until("the process's end", () => !alive(driver.pid ?? 0));
        if (signal === "SIGSTOP") expect(ticks).toBeGreaterThan(20);
        await expect(other.newest({ not_before_s: monotonic_s(), deadline_ms: 2000 })).resolves.toBeDefined();
        await driver.close();
      },
    );

    it("every call has a deadline, and a closed camera says so", async () => {
      const driver = await camera({ source: software() });
      const late = await refusal(driver.newest({ not_before_s: monotonic_s() + 60, deadline_ms: 120 }));
      expect(isSkill2RealError(late, "deadline_exceeded")).toBe(true);
      const waiting = refusal(driver.newest({ not_before_s: monotonic_s() + 60, deadline_ms: 60_000 }));
      await driver.close();
      expect(isSkill2RealError(await waiting, "session_closed")).toBe(true);
      expect(alive(driver.pid ?? 0)).toBe(false);
    });

    it("never hands one buffer to two frames unless it was given back", async () => {
      const driver = await camera({ source: software() });
      const at = () => driver.newest({ not_before_s: monotonic_s(), deadline_ms: 2000 });
      const [first, second] = [await at(), await at()];
      expect(first.rgb8.buffer).not.toBe(second.rgb8.buffer);
      const [red, number] = [first.rgb8[0], first.frame_number];
      driver.release(second);
      const third = await at();
      expect(third.rgb8.buffer).toBe(second.rgb8.buffer);
      expect([first.rgb8[0], first.frame_number]).toEqual([red, number]);
    });

    it("the process dies with its parent, however that ends", async () => {
      const program = `
      const { CameraDriver } = await import(${JSON.stringify(pathToFileURL(compiledModule("src/runtime/native/camera.ts")).href)});
      const driver = await CameraDriver.open({ name: "child", source: { kind: "software" }, streams: { color: {} } });
      console.log(driver.pid);
      for (;;) {}`;
      const parent = spawn(process.execPath, ["--input-type=module", "-e", program], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const pid = await new Promise<number>((resolve) =>
        parent.stdout.once("data", (text: Buffer) => resolve(Number(text))),
      );
      expect(alive(pid)).toBe(true);
      parent.kill("SIGKILL");
      await until("the capture process's end", () => !alive(pid));
    });
  },
);

/** A bench of one camera that answers as it is told. */
async function bench(reply: (request: { camera: string; not_before_s: number }) => (object | Uint8Array)[] | null) {
  const folder = mkdtempSync(join(tmpdir(), "s2r-bench-"));
  const address = `ipc://${join(folder, "frames")}`;
  const router = new Router({ linger: 0 });
  await router.bind(address);
  const requests: { camera: string; not_before_s: number }[] = [];
  void (async () => {
    for await (const [id, empty, body] of router) {
      const request = JSON.parse(String(body)) as { camera: string; not_before_s: number };
      requests.push(request);
      const parts = reply(request);
      if (parts)
        await router.send([
          id ?? "",
          empty ?? "",
          ...parts.map((part) => (part instanceof Uint8Array ? Buffer.from(part) : JSON.stringify(part))),
        ]);
    }
  })().catch(() => {});
  onTestFinished(() => {
    router.close();
    rmSync(folder, { recursive: true });
  });
  return { address, requests };
}

const LENS = { fx: 60, fy: 60, cx: 31.5, cy: 23.5, model: "brown_conrady", coeffs: [0, 0, 0, 0, 0] };
const EYE = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

function benchFrame(frame_number: number, exposure_time_s: number) {
  const depth = new Uint16Array(64 * 48).fill(4000);
  return [
    {
      camera: "wrist",
      serial: "130322270405",
      width: 64,
      height: 48,
      frame_number,
      exposure_time_s,
      arrival_time_s: exposure_time_s + 0.05,
      color: { format: "rgb8", part: 1, ...LENS },
      depth: { format: "z16", part: 2, units_m: 0.0001, ...LENS },
      X_color_depth: EYE,
    },
    new Uint8Array(64 * 48 * 3).fill(frame_number),
    new Uint8Array(depth.buffer),
  ];
}

describe("the emulated bench's frames", () => {
  it("are asked for when they are wanted, and an older exposure is never taken", async () => {
    let number = 0;
    // The bench cheats once: every second answer is older than asked for.
    const { address, requests } = await bench(({ not_before_s }) => {
      number += 1;
      const time_s =
        number > 1 && number % 2 === 0 ? not_before_s - 0.05 : Math.max(not_before_s, monotonic_s() - 0.01);
      return benchFrame(number, time_s);
    });
    const driver = await camera({ source: { kind: "plant", address, camera: "wrist" } });
    expect(driver.info).toMatchObject({
      serial: "130322270405",
      domain: "monotonic",
      units_m: 0.0001,
      on_demand: true,
    });
    await sleep(200);
    expect(requests.length).toBe(1); // nobody asked since
    for (let i = 0; i < 5; i += 1) {
      const asked_s = monotonic_s();
      const frame = await driver.newest({ not_before_s: asked_s, deadline_ms: 2000 });
      expect(frame.exposure_time_s).toBeGreaterThanOrEqual(asked_s);
      expect(frame.rgb8[100]).toBe(frame.frame_number & 255);
      expect(frame.depth_m?.[100]).toBeCloseTo(0.4, 6);
    }
    expect(requests.every(({ camera: name }) => name === "wrist")).toBe(true);
  });

  it("that stop coming are asked for anew, then are a fault; a refusal at the start is told at once", async () => {
    let silent = false;
    const { address, requests } = await bench(() => (silent ? null : benchFrame(1 + requests.length, monotonic_s())));
    const driver = await camera({ source: { kind: "plant", address, camera: "wrist", timeout_s: 0.2 } });
    silent = true;
    const events: string[] = [];
    driver.onEvent(({ code }) => events.push(code));
    const waiting = refusal(driver.newest({ not_before_s: monotonic_s(), deadline_ms: 10_000 }));
    await until("a restart", () => events.includes("restart_stream"));
    silent = false;
    expect(await waiting).toBeNull();
    silent = true;
    const lost = refusal(driver.newest({ not_before_s: monotonic_s(), deadline_ms: 10_000 }));
    expect(isSkill2RealError(await lost, "camera_stalled")).toBe(true);
    const refusing = await bench(() => [{ error: "no camera of this name" }]);
    const error = await refusal(camera({ source: { kind: "plant", address: refusing.address, camera: "wrong" } }));
    expect(isSkill2RealError(error, "camera_refused")).toBe(true);
  });

  it("of a camera that was unplugged are waited for", async () => {
    let gone = false;
    const { address, requests } = await bench(() =>
      gone ? [{ error: "camera wrist is not connected" }] : benchFrame(1 + requests.length, monotonic_s()),
    );
    const driver = await camera({ source: { kind: "plant", address, camera: "wrist" } });
    gone = true;
    const events: string[] = [];
    driver.onEvent(({ code }) => events.push(code));
    const waiting = refusal(driver.newest({ not_before_s: monotonic_s(), deadline_ms: 10_000 }));
    await until("waiting", () => events.includes("wait_for_device"));
    gone = false;
    expect(await waiting).toBeNull();
    expect(events).toEqual(["wait_for_device", "recovered"]);
  });

  it("that are malformed are refused with what is wrong", async () => {
    const broken = [
      [/no number fx/, (head: Record<string, unknown>) => ({ ...head, color: { format: "rgb8", part: 1 } })],
      [/names part 9/, (head: Record<string, unknown>) => ({ ...head, color: { format: "rgb8", part: 9, ...LENS } })],
      [
        /above 0/,
        (head: Record<string, unknown>) => ({ ...head, depth: { format: "z16", part: 2, units_m: 0, ...LENS } }),
      ],
    ] as const;
    for (const [words, spoil] of broken) {
      const { address } = await bench(() => {
        const [head, ...rest] = benchFrame(1, monotonic_s());
        return [spoil(head as Record<string, unknown>), ...rest];
      });
      const error = await refusal(camera({ source: { kind: "plant", address, camera: "wrist" } }));
      expect(String(error)).toMatch(words);
    }
  });
});
