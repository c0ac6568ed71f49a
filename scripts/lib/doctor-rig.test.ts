import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
type Finding = { name: string; ok: boolean; warn?: boolean; found: string; mend?: string };
type Ports = Record<"dashboard" | "rtde" | "script" | "secondary" | "primary", number>;
type UsbCamera = {
  name: string;
  port: string;
  usb: string;
  width: number;
  height: number;
  fps: number;
  depth: "sensor" | "stereo";
};
type Modules = {
  controllerFindings: (
    host: string,
    options: { ports: Ports; deadline_ms: number; registers?: string },
  ) => AsyncIterable<Finding>;
  gripperFindings: (gripper: { path: string; serial?: string }) => Iterable<Finding>;
  cameraFindings: (cameras: Record<string, unknown>) => Iterable<Finding>;
  usbFindings: (cameras: readonly UsbCamera[]) => Iterable<Finding>;
  realtimeFindings: (arm: { realtime: string; realtime_priority: number }, emulated: boolean) => Iterable<Finding>;
};
const doctor = (await import(new URL("./doctor-rig.mjs", import.meta.url).href)) as Modules;

let folder = "";
const closers: (() => void)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "s2r-doctor-"));
});
afterEach(() => {
  for (const close of closers.splice(0)) close();
  rmSync(folder, { recursive: true, force: true });
});

async function serve(answer: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    answer(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const dashboard = (answers: Record<string, string>) =>
  serve((socket) => {
    socket.write("Connected: Universal Robots Dashboard Server\n");
    socket.on("data", (line) => socket.write(`${answers[line.toString().trim()] ?? "could not understand"}\n`));
  });
const rtde = (accepted: number) =>
  serve((socket) => socket.on("data", () => socket.write(Buffer.from([0, 4, 0x56, accepted]))));
const stream = () => serve((socket) => socket.write(Buffer.alloc(16)));
const mute = () => serve(() => {});
const HEALTHY = {
  robotmode: "Robotmode: RUNNING",
  safetystatus: "Safetystatus: NORMAL",
  "is in remote control": "true",
  PolyscopeVersion: "URSoftware 5.17.0.123 (Jan 01 2024)",
};

async function controller(
  ports: Partial<Ports>,
  registers = "upper",
  host = "127.0.0.1",
): Promise<Map<string, Finding>> {
  const free = await serve(() => {});
  closers.pop()?.();
  const all = { dashboard: free, rtde: free, script: free, secondary: free, primary: free, ...ports };
  const found = new Map<string, Finding>();
  for await (const finding of doctor.controllerFindings(host, {
    ports: all,
    deadline_ms: 300,
    registers,
  }))
    found.set(finding.name, finding);
  return found;
}

describe("the controller", () => {
  it("is well where every port answers", async () => {
    const ports = {
      dashboard: await dashboard(HEALTHY),
      rtde: await rtde(1),
      script: await stream(),
      primary: await stream(),
    };
    const found = await controller(ports);
    expect([...found.keys()]).toEqual([
      "dashboard",
      "remote control",
      "robot mode",
      "safety status",
      "RTDE",
      "script interface",
      "primary interface",
    ]);
    for (const finding of found.values()) expect(finding).toMatchObject({ ok: true });
    expect(found.get("dashboard")?.found).toContain("PolyScope 5.17.0.123");
  });

  it("is looked up where it is named, and nothing more is asked of a name that nobody knows", async () => {
    const found = await controller({ dashboard: await dashboard(HEALTHY) }, "upper", "localhost");
    expect(found.get("controller's name")).toMatchObject({ ok: true, found: "localhost is 127.0.0.1" });
    expect(found.get("dashboard")).toMatchObject({ ok: true });
    const unknown = await controller({}, "upper", "nobody.invalid");
    expect([...unknown.keys()]).toEqual(["controller's name"]);
    expect(unknown.get("controller's name")).toMatchObject({ ok: false, mend: expect.stringContaining("pendant") });
  });

  it("is told to be in local mode, unpowered or in protective stop, with what to do", async () => {
    const answers = {
      ...HEALTHY,
      "is in remote control": "false",
      robotmode: "Robotmode: POWER_OFF",
      safetystatus: "Safetystatus: PROTECTIVE_STOP",
    };
    const found = await controller({ dashboard: await dashboard(answers) });
    expect(found.get("remote control")).toMatchObject({ ok: false, found: "the arm is in local mode" });
    expect(found.get("robot mode")).toMatchObject({ ok: true, warn: true, found: "POWER_OFF" });
    expect(found.get("safety status")).toMatchObject({ ok: false, found: "PROTECTIVE_STOP" });
    expect(found.get("safety status")?.mend).toContain("skill2real arm recover");
  });

  it.each([
    ["5.22.9", "upper", true],
    ["5.23.0", "upper", false],
    ["5.23.0", "lower", true],
    ["10.9.1", "upper", false],
    ["3.15.8", "upper", true],
  ])("of PolyScope %s works with the %s registers: %s", async (version, registers, works) => {
    const answers = { ...HEALTHY, PolyscopeVersion: `URSoftware ${version}.123 (Jan 01 2026)` };
    const found = await controller({ dashboard: await dashboard(answers) }, registers);
    expect(found.has("registers")).toBe(!works);
    if (!works) expect(found.get("registers")).toMatchObject({ ok: false, mend: expect.stringContaining("lower") });
  });

  it("does not wait for a peer that accepts and says nothing", async () => {
    const began = performance.now();
    const found = await controller({
      dashboard: await mute(),
      rtde: await mute(),
      script: await mute(),
      primary: await mute(),
    });
    expect(performance.now() - began).toBeLessThan(10_000);
    for (const name of ["dashboard", "RTDE", "script interface"]) {
      expect(found.get(name)).toMatchObject({ ok: false });
      expect(found.get(name)?.found).toContain("then says nothing within 300 ms");
    }
    expect(found.get("primary interface")).toMatchObject({ ok: true, warn: true });
  });

  it("is told to be absent, to be something else, or to be too old", async () => {
    expect((await controller({})).get("RTDE")?.found).toContain("ECONNREFUSED");
    const other = await serve((socket) => {
      socket.write("220 mail ready\n");
      socket.on("data", () => socket.write("500\n"));
    });
    const found = await controller({ dashboard: other, rtde: await rtde(0) });
    expect(found.get("dashboard")?.found).toContain("is no dashboard");
    expect(found.get("RTDE")?.found).toContain("refuses version 2");
  });
});

describe("the gripper", () => {
  it("is missing, no serial line, or well, with a mend for what is not", async () => {
    const findings = (path: string, serial?: string): Finding[] => [
      ...doctor.gripperFindings(serial === undefined ? { path } : { path, serial }),
    ];
    expect(findings(join(folder, "none"))).toMatchObject([{ ok: false, found: expect.stringContaining("ENOENT") }]);
    writeFileSync(join(folder, "file"), "");
    expect(findings(join(folder, "file"))).toMatchObject([
      { ok: false, found: expect.stringContaining("is no device") },
    ]);
    expect(findings("/dev/null").at(-1)).toMatchObject({ ok: false, found: "/dev/null is no serial line" });
    for (const { ok, mend } of findings("/dev/null")) expect(ok || mend !== undefined).toBe(true);

    const pty = spawn("python3", [
      "-c",
      "import os, pty, sys; m, s = pty.openpty(); print(os.ttyname(s), flush=True); sys.stdin.read()",
    ]);
    closers.push(() => pty.kill());
    const path = await new Promise<string>((resolve) =>
      pty.stdout.once("data", (line) => resolve(String(line).trim())),
    );
    expect(findings(path).map(({ name, ok }) => [name, ok])).toEqual([
      ["gripper device", true],
      ["gripper permission", true],
      ["gripper free", true],
    ]);
    expect(findings(path, "77").at(-1)).toMatchObject({ name: "gripper serial", ok: false });
  });
});

describe("cameras", () => {
  it("are failed where the library does not open, and where a recording is missing", () => {
    const found = [
      ...doctor.cameraFindings({
        wrist: { source: "realsense", serial: "130322270405", library: join(folder, "librealsense2.so") },
        film: { source: "recording", file: join(folder, "film.bag"), library: join(folder, "librealsense2.so") },
      }),
    ];
    expect(found.find(({ name }) => name === "librealsense")).toMatchObject({ ok: false });
    expect(found.find(({ name }) => name === "camera wrist")?.found).toContain("serial 130322270405 is not connected");
    expect(found.find(({ name }) => name === "camera film")).toMatchObject({ ok: false });
    for (const { ok, mend } of found) expect(ok || mend !== undefined).toBe(true);
  });

  it("that share a USB line must fit onto it together", () => {
    const camera = (name: string, port: string, more: Partial<UsbCamera> = {}): UsbCamera => ({
      ...{ name, port, usb: "3.2", width: 1280, height: 720, fps: 30, depth: "sensor" },
      ...more,
    });
    const bus = (hub: number) =>
      `/sys/devices/pci0000:00/0000:00:14.0/usb${hub}/${hub}-1/${hub}-1:1.0/video4linux/video0`;
    // 1280 x 720 x 30 x 4 bytes are 110.6 MB/s each.
    expect([...doctor.usbFindings([camera("wrist", bus(2)), camera("scene", bus(2))])]).toMatchObject([
      { name: "USB line 2", ok: true, found: "wrist, scene need 221 of 300 MB/s" },
    ]);
    const three = [camera("wrist", bus(2)), camera("scene", "2-1.4-9", { depth: "stereo" }), camera("side", bus(4))];
    expect([...doctor.usbFindings(three)].map(({ found }) => found)).toEqual([
      "wrist, scene need 276 of 300 MB/s",
      "side need 111 of 300 MB/s",
    ]);
    const crowded = [...doctor.usbFindings([...three, camera("top", bus(2))])];
    expect(crowded[0]).toMatchObject({ ok: true, warn: true, found: "wrist, scene, top need 387 of 300 MB/s" });
    expect(crowded[0]?.mend).toContain("fps");
    expect([...doctor.usbFindings([camera("old", bus(1), { usb: "2.1" })])][0]).toMatchObject({ warn: true });
  });

  it("of the emulated bench need no library", () => {
    expect([...doctor.cameraFindings({ wrist: { source: "plant" } })]).toEqual([]);
  });
});

describe("real time", () => {
  it("that is refused fails where the rig enforces it and only warns where it does not", () => {
    // No kernel gives a priority of 1000.
    const found = (realtime: string): Finding | undefined =>
      [...doctor.realtimeFindings({ realtime, realtime_priority: 1000 }, false)].find(
        ({ name }) => name === "SCHED_FIFO",
      );
    expect(found("enforce")).toMatchObject({ ok: false, found: expect.stringContaining("priority 1000 is refused") });
    expect(found("ignore")).toMatchObject({ ok: true, warn: true });
    expect(found("enforce")?.mend).toContain("/etc/security/limits.d/");
  });
});

describe("skill2real doctor --rig", () => {
  it("ends with 2 for a wrong option and with 3 for a rig that is not there, as JSON too", async () => {
    const run = (...args: string[]): Promise<{ code: number | null; out: string; err: string }> =>
      new Promise((resolve) => {
        const child = spawn(process.execPath, [join(ROOT, "bin", "skill2real.js"), "doctor", ...args], { cwd: folder });
        let [out, err] = ["", ""];
        child.stdout.on("data", (chunk) => (out += chunk));
        child.stderr.on("data", (chunk) => (err += chunk));
        child.on("close", (code) => resolve({ code, out, err }));
      });
    expect(await run("--rgi", "x")).toMatchObject({ code: 2, err: expect.stringContaining("--rgi") });
    const { code, out } = await run("--rig", "none.toml", "--json");
    expect(code).toBe(3);
    const { findings } = JSON.parse(out) as { findings: Finding[] };
    expect(findings.find(({ name }) => name === "rig configuration")).toMatchObject({
      ok: false,
      mend: expect.any(String),
    });
  });
});
