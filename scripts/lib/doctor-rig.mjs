import { spawnSync } from "node:child_process";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { isIPv4 } from "node:net";
import { userInfo, version } from "node:os";
import { delimiter, join } from "node:path";
import { isatty } from "node:tty";
import { pathToFileURL } from "node:url";
import { findPython, missingDebianPackages, RIG_DEBIAN_PACKAGES } from "./machine.mjs";
import { LIBREALSENSE, RIG_ADDONS, RIG_PROGRAMS } from "./native-steps.mjs";
import { probeDashboard, probeName, probeRtde, probeStream, UR_PORTS } from "./rig-probes.mjs";
import { probe, ROOT } from "./shell.mjs";

const SETUP = "npm run setup -- --native";
const LIMITS_FILE = "/etc/security/limits.d/99-skill2real.conf";
const UDEV_FILE = "/etc/udev/rules.d/99-skill2real-realsense.rules";
/** USB products of the D400 family. */
const UDEV_RULE = 'SUBSYSTEM=="usb", ATTRS{idVendor}=="8086", ATTRS{idProduct}=="0ad*|0af*|0b[0-6]*", MODE="0666"';
// Opens the library, asks its version and the cameras that it sees: rs2's C API, enum values of rs_sensor.h.
const REALSENSE = `
import ctypes as c, json, sys
lib = c.CDLL(sys.argv[1])
for name in ("rs2_create_context", "rs2_query_devices", "rs2_create_device"): getattr(lib, name).restype = c.c_void_p
lib.rs2_get_device_info.restype = c.c_char_p
lib.rs2_get_error_message.restype = c.c_char_p
error = c.c_void_p()
def ask(name, *args):
    value = getattr(lib, name)(*args, c.byref(error))
    if error: raise SystemExit(lib.rs2_get_error_message(error).decode())
    return value
version = ask("rs2_get_api_version")
devices = c.c_void_p(ask("rs2_query_devices", c.c_void_p(ask("rs2_create_context", version))))
cameras = []
for i in range(ask("rs2_get_device_count", devices)):
    device = c.c_void_p(ask("rs2_create_device", devices, i))
    info = lambda key: ask("rs2_get_device_info", device, key).decode() if ask("rs2_supports_device_info", device, key) else ""
    cameras.append({"name": info(0), "serial": info(1), "firmware": info(2), "port": info(4), "usb": info(9)})
print(json.dumps({"version": f"{version // 10000}.{version // 100 % 100}.{version % 100}", "cameras": cameras}))
`;

const good = (name, found) => ({ name, ok: true, found });
const warn = (name, found, mend) => ({ name, ok: true, warn: true, found, mend });
const bad = (name, found, mend) => ({ name, ok: false, found, mend });

/** What is built of the rig; `tried` loads something in a process of its own. */
export function* builtFindings(tried) {
  const missing = missingDebianPackages(RIG_DEBIAN_PACKAGES);
  yield missing.length === 0
    ? good("Debian packages (rig)", `all ${Object.keys(RIG_DEBIAN_PACKAGES).length}`)
    : bad(
        "Debian packages (rig)",
        `missing ${missing.join(", ")}`,
        `apt-get install --no-install-recommends ${missing.join(" ")}`,
      );
  const arm = join(ROOT, "build", "Release", "arm.node");
  const absent = existsSync(arm)
    ? (probe("ldd", [arm]) ?? "").split("\n").filter((line) => line.includes("not found"))
    : [];
  const boost = (probe("/sbin/ldconfig", ["-p"]) ?? "").includes("libboost_thread.so");
  yield absent.length === 0 && boost
    ? good("shared libraries of arm", "Boost.Thread and all others are found")
    : bad(
        "shared libraries of arm",
        absent.length > 0 ? absent.map((line) => line.trim()).join("; ") : "no libboost_thread.so",
        "apt-get install libboost-thread1.74.0 libzmq5",
      );
  for (const name of RIG_ADDONS) {
    const path = join(ROOT, "build", "Release", `${name}.node`);
    const problem = existsSync(path) ? tried(`require(${JSON.stringify(path)})`) : "not built";
    yield problem ? bad(`addon ${name}`, problem, SETUP) : good(`addon ${name}`, "loads");
  }
  for (const name of RIG_PROGRAMS) {
    const path = join(ROOT, "build", "Release", name);
    yield existsSync(path) ? good(`program ${name}`, "built") : bad(`program ${name}`, "not built", SETUP);
  }
}

/** Scheduling and memory, by trying them; what is lacking fails where the rig enforces real time. */
export function* realtimeFindings({ realtime, realtime_priority: priority }, emulated) {
  const lacking = realtime === "enforce" ? bad : warn;
  const { username } = userInfo();
  const limits = `printf '%s\\n' '${username} - rtprio 99' '${username} - memlock unlimited' | sudo tee ${LIMITS_FILE}, then log in again`;
  const limit = (words) => new RegExp(`^${words}\\s+(\\S+)`, "m").exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  yield probe("chrt", ["-f", String(priority), "true"]) !== null
    ? good("SCHED_FIFO", `priority ${priority} is given`)
    : lacking("SCHED_FIFO", `priority ${priority} is refused (rtprio limit ${limit("Max realtime priority")})`, limits);
  const lock = "import ctypes, sys; sys.exit(ctypes.CDLL(None).mlockall(3))";
  yield probe(findPython() ?? "python3", ["-c", lock]) !== null
    ? good("locked memory", "allowed without limit")
    : lacking("locked memory", `refused (memlock limit ${limit("Max locked memory")} bytes)`, limits);
  const preempt = existsSync("/sys/kernel/realtime") && readFileSync("/sys/kernel/realtime", "utf8").trim() === "1";
  yield preempt || /PREEMPT_RT/.test(version())
    ? good("kernel", "PREEMPT_RT")
    : emulated
      ? good("kernel", "no PREEMPT_RT, which emulators do not need")
      : warn(
          "kernel",
          "no PREEMPT_RT: cycles may come late under load",
          "apt-get install linux-image-rt-amd64, then boot it",
        );
  const governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
  if (existsSync(governor)) {
    const mode = readFileSync(governor, "utf8").trim();
    yield mode === "performance"
      ? good("processor frequency", mode)
      : warn("processor frequency", mode, "sudo cpupower frequency-set --governor performance");
  }
}

/** Whether the controller answers on each port, and whether it would take commands. */
export async function* controllerFindings(given, { ports = UR_PORTS, deadline_ms = 1000, registers } = {}) {
  let host = given;
  if (!isIPv4(given)) {
    const { address, problem } = await probeName(given);
    if (problem) {
      const mend = "write arm.host as the pendant shows it under Settings > System > Network";
      yield bad("controller's name", `${given} ${problem}`, mend);
      return;
    }
    yield good("controller's name", `${given} is ${address}`);
    host = address;
  }
  const network = `check the cable and the address (arm.host is ${host}), and on the pendant Settings > Security > Services`;
  const dashboard = await probeDashboard(host, ports.dashboard, deadline_ms);
  const at = (port) => `${host}:${port}`;
  if (dashboard.problem)
    yield bad("dashboard", `${at(ports.dashboard)} ${dashboard.problem}`, `${network}: enable Dashboard Server`);
  else {
    yield good("dashboard", `PolyScope ${dashboard.version ?? "of unknown version"}, ${dashboard.ms.toFixed(1)} ms`);
    const [major = 0, minor = 0] = (dashboard.version ?? "").split(".").map(Number);
    // From there on ur_rtde 1.6.5 reads its output registers at 0, while its robot program writes at 24.
    if (registers === "upper" && ((major === 5 && minor >= 23) || (major === 10 && minor >= 9) || major > 10))
      yield bad(
        "registers",
        `ur_rtde 1.6.5 does not work with the upper registers of PolyScope ${dashboard.version}`,
        'set arm.registers = "lower", and switch field buses that claim them off',
      );
    yield dashboard.remote === "true"
      ? good("remote control", "on")
      : bad(
          "remote control",
          dashboard.remote === "false" ? "the arm is in local mode" : `not known: ${dashboard.remote ?? "no answer"}`,
          "on the pendant: Settings > System > Remote Control > Enable, then choose Remote at the top right",
        );
    yield dashboard.mode === "RUNNING"
      ? good("robot mode", dashboard.mode)
      : warn("robot mode", dashboard.mode ?? "not known", "on the pendant: power the arm on and release its brakes");
    yield dashboard.safety === null || /^(NORMAL|REDUCED)/.test(dashboard.safety)
      ? good("safety status", dashboard.safety ?? "not told by this version")
      : bad(
          "safety status",
          dashboard.safety,
          'free the arm, then "skill2real arm recover"; emergency stops are released by hand',
        );
  }
  const rtde = await probeRtde(host, ports.rtde, deadline_ms);
  yield rtde.problem
    ? bad(
        "RTDE",
        `${at(ports.rtde)} ${rtde.problem}`,
        `${network}: enable RTDE; restart the controller where it accepts and says nothing`,
      )
    : good("RTDE", `version 2, ${rtde.ms.toFixed(1)} ms`);
  for (const [name, service] of [
    ["script", "Real-Time Client"],
    ["primary", "Primary Client"],
  ]) {
    const stream = await probeStream(host, ports[name], deadline_ms);
    const lack = name === "script" ? bad : warn;
    yield stream.problem
      ? lack(`${name} interface`, `${at(ports[name])} ${stream.problem}`, `${network}: enable ${service}`)
      : good(`${name} interface`, `state flows, ${stream.ms.toFixed(1)} ms`);
  }
}

/** The serial device of the gripper: there, ours to open, and not in use. */
export function* gripperFindings({ path, serial }) {
  const mendPath = () => {
    const folder = "/dev/serial/by-id";
    const seen = existsSync(folder) ? readdirSync(folder).map((entry) => join(folder, entry)) : [];
    return seen.length > 0
      ? `set gripper.path to one of ${seen.join(", ")}`
      : "plug the gripper in and power it; no serial device is seen";
  };
  let device;
  try {
    device = realpathSync(path);
  } catch (error) {
    yield bad("gripper device", `${path}: ${error.code}`, mendPath());
    return;
  }
  if (!statSync(device).isCharacterDevice()) {
    yield bad("gripper device", `${path} is no device`, mendPath());
    return;
  }
  yield path.startsWith("/dev/serial/") || !/^\/dev\/tty(USB|ACM)\d+$/.test(path)
    ? good("gripper device", path === device ? path : `${path} -> ${device}`)
    : warn("gripper device", `${path} may be another device after replugging`, mendPath());
  const { username } = userInfo();
  try {
    accessSync(device, constants.R_OK | constants.W_OK);
    yield good("gripper permission", "readable and writable");
  } catch {
    yield bad(
      "gripper permission",
      `${username} may not open ${device}`,
      `sudo usermod -aG dialout ${username}, then log in again`,
    );
    return;
  }
  try {
    const descriptor = openSync(device, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
    const serialLine = isatty(descriptor);
    closeSync(descriptor);
    if (!serialLine) {
      yield bad("gripper device", `${path} is no serial line`, mendPath());
      return;
    }
    yield good("gripper free", "nobody holds it");
  } catch (error) {
    yield bad("gripper free", `${device}: ${error.code}`, `end the process that holds it: sudo fuser -v ${device}`);
  }
  if (serial === undefined) return;
  const told = probe("udevadm", ["info", "--query=property", "--name", device]);
  const seen = /^ID_SERIAL_SHORT=(.*)$/m.exec(told ?? "")?.[1];
  yield seen === serial
    ? good("gripper serial", serial)
    : bad(
        "gripper serial",
        seen ? `the device is ${seen}` : "cannot be read",
        `gripper.serial is ${serial}: correct it or gripper.path`,
      );
}

/** Bytes that a pixel of each stream takes on the wire: Z16, YUY2, and Y8 twice where depth is computed from the pair. */
const bytesOfPixel = ({ depth }) => 2 + 2 + (depth === "stereo" ? 2 : 0);
/** What isochronous streams get through in practice [MB/s]: about three quarters of what the line could. */
const USB_MB_S = { 2: 35, 3: 300 };

/** The root hub of a port as librealsense names it ("…/usb2/2-1/…", or "2-1.3-7"); cameras of one share its line. */
const rootHubOf = (port) => /\/usb(\d+)\//.exec(port)?.[1] ?? /^(\d+)-/.exec(port)?.[1] ?? "unknown";

/** Whether the cameras that share a USB line fit onto it together. `cameras`: of the rig, each with its `port` and `usb`. */
export function* usbFindings(cameras) {
  const hubs = new Map();
  for (const camera of cameras) {
    const hub = rootHubOf(camera.port);
    hubs.set(hub, [...(hubs.get(hub) ?? []), camera]);
  }
  for (const [hub, sharing] of hubs) {
    const needed = sharing.reduce(
      (sum, camera) => sum + (camera.width * camera.height * camera.fps * bytesOfPixel(camera)) / 1e6,
      0,
    );
    const room = USB_MB_S[sharing.some(({ usb }) => usb.startsWith("2")) ? 2 : 3];
    const found = `${sharing.map(({ name }) => name).join(", ")} need ${needed.toFixed(0)} of ${room} MB/s`;
    yield needed <= room
      ? good(`USB line ${hub}`, found)
      : warn(
          `USB line ${hub}`,
          found,
          "lower width, height or fps of a camera, or plug one into a port of another USB controller",
        );
  }
}

/** Cameras: the library opens, each serial number is connected, USB permission is given. */
export function* cameraFindings(cameras) {
  const seen = new Map();
  const connected = [];
  const bundled = join(ROOT, LIBREALSENSE, "librealsense2.so");
  const libraryOf = (camera) => camera.library ?? bundled;
  for (const library of new Set(
    Object.values(cameras)
      .filter(({ source }) => source !== "plant")
      .map(libraryOf),
  )) {
    const result = spawnSync(findPython() ?? "python3", ["-c", REALSENSE, library], {
      encoding: "utf8",
      timeout: 20_000,
    });
    if (result.status === 0) {
      const answer = JSON.parse(result.stdout);
      seen.set(library, answer.cameras);
      yield good("librealsense", `${answer.version} opens (${library === bundled ? LIBREALSENSE : library})`);
    } else {
      const words = result.stderr?.trim().split("\n").at(-1) || `ended with ${result.signal ?? result.status}`;
      yield bad(
        "librealsense",
        words,
        library === bundled ? SETUP : `correct library, or leave it out and run ${SETUP}`,
      );
    }
  }
  for (const [name, camera] of Object.entries(cameras)) {
    if (camera.source === "recording")
      yield existsSync(camera.file)
        ? good(`camera ${name}`, camera.file)
        : bad(`camera ${name}`, `there is no ${camera.file}`, `correct cameras.${name}.file`);
    if (camera.source !== "realsense") continue;
    const there = seen.get(libraryOf(camera));
    const found = there?.find(({ serial }) => serial === camera.serial);
    if (!found)
      yield bad(
        `camera ${name}`,
        `serial ${camera.serial} is not connected${there?.length ? `; connected: ${there.map(({ name: product, serial }) => `${product} ${serial}`).join(", ")}` : ""}`,
        "plug it into a USB 3 port, or correct its serial",
      );
    else
      yield found.usb.startsWith("2")
        ? warn(
            `camera ${name}`,
            `${found.name}, USB ${found.usb}`,
            "use a USB 3 port and cable: USB 2 has no room for depth and colour",
          )
        : good(`camera ${name}`, `${found.name}, firmware ${found.firmware}, USB ${found.usb}`);
    if (found) connected.push({ ...camera, name, port: found.port, usb: found.usb });
  }
  yield* usbFindings(connected);
  if (!Object.values(cameras).some(({ source }) => source === "realsense")) return;
  const rules = ["/etc/udev/rules.d", "/usr/lib/udev/rules.d", "/lib/udev/rules.d"]
    .filter(existsSync)
    .flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
    .find((file) => /realsense/i.test(file));
  yield rules || process.getuid() === 0
    ? good("udev rules (cameras)", rules ?? "not needed by root")
    : bad(
        "udev rules (cameras)",
        "none for RealSense",
        `echo '${UDEV_RULE}' | sudo tee ${UDEV_FILE} && sudo udevadm control --reload-rules && sudo udevadm trigger`,
      );
}

/** The Python half of the emulated rig: both packages load in the simulator's environment. */
export function* emulatorFindings() {
  for (const [name, folder] of [
    ["bench", "bench"],
    ["gripper", "pika"],
  ]) {
    const paths = [join(ROOT, "backends", "sim", "server"), join(ROOT, "backends", "emulators", folder)];
    const { status, stderr, error } = spawnSync(
      join(ROOT, ".venvs", "twin", "bin", "python"),
      ["-c", `import skill2real_${folder}`],
      { env: { ...process.env, PYTHONPATH: paths.join(delimiter) }, encoding: "utf8", timeout: 60_000 },
    );
    yield status === 0
      ? good(`emulated ${name}`, "loads; started with the rig")
      : bad(`emulated ${name}`, error?.message ?? stderr.trim().split("\n").at(-1), SETUP);
  }
}

/** The rig's description: from the compiled configuration, which loads nothing native. */
export async function readRig(rig, config) {
  const compiled = join(ROOT, "dist", "src", "config", "index.js");
  if (!existsSync(compiled))
    return { findings: [bad("rig configuration", "TypeScript is not compiled", "npm run build")] };
  try {
    const { findRig, loadConfig } = await import(pathToFileURL(compiled).href);
    const loaded = loadConfig(config === undefined ? {} : { file: config });
    const from = { rig, rigs: loaded.rigs, file: loaded.file };
    const named = findRig({ ...from, calibrated: false });
    const findings = [good("rig configuration", `${named.name}${named.file ? ` of ${named.file}` : ", built in"}`)];
    try {
      findRig(from);
      findings.push(good("camera calibrations", `${Object.keys(named.rig.cameras).length} cameras have a pose`));
    } catch (error) {
      findings.push(bad("camera calibrations", error.message, "calibrate the camera, or give X_parent_camera"));
    }
    return { named, findings };
  } catch (error) {
    return {
      findings: [
        bad("rig configuration", error.message, 'correct the file; "skill2real init --rig" writes a commented one'),
      ],
    };
  }
}

/** Everything that is to be known of a rig before it moves. Probes have deadlines; nothing native is loaded here. */
export async function* rigFindings({ rig, config, tried }) {
  const { named, findings } = await readRig(rig, config);
  yield* findings;
  yield* builtFindings(tried);
  if (!named) return;
  const { arm, gripper, cameras } = named.rig;
  yield* realtimeFindings(arm, named.emulated);
  if (named.emulated) {
    yield* emulatorFindings();
    return;
  }
  yield* controllerFindings(arm.host, { registers: arm.registers });
  if (gripper) yield* gripperFindings(gripper);
  yield* cameraFindings(cameras);
}
