import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findPython } from "./machine.mjs";
import {
  NATIVE_SOURCES,
  RUN_STEPS,
  rigSystemStep,
  stamped,
  TEST_STEPS,
  typescriptStep,
  urRtdeSourceStep,
  venvStep,
} from "./setup-steps.mjs";
import { ROOT, run, StepError } from "./shell.mjs";

export const RIG_ADDONS = ["arm", "gripper", "camera"];
/** Programs in build/Release beside the addons. */
export const RIG_PROGRAMS = ["camera-capture", "ur-controller"];
export const LIBREALSENSE = ".deps/librealsense-2.55.1";

/** The compiled library; every build folder links it, none compiles it again. */
const urRtdeStep = stamped(
  "ur_rtde (C++ library)",
  "ur-rtde-library",
  { paths: ["native/cmake/ur_rtde", "scripts/requirements/ur-rtde.txt"] },
  ["build/ur_rtde/librtde.a"],
  async () => {
    const mend = 'read the log; "npm run setup -- --native" fetches what the build needs';
    await run("ur-rtde-configure", "cmake", ["-S", "native/cmake/ur_rtde", "-B", "build/ur_rtde"], { mend });
    await run("ur-rtde-build", "cmake", ["--build", "build/ur_rtde", "--parallel", "2"], { mend });
  },
);

/**
 * C source with a definition for each symbol that a Python extension takes from its interpreter. Functions trap: the C
 * API of librealsense, which is all that is used of the extension, never calls them.
 */
export function interpreterStandIn(undefinedSymbols) {
  return undefinedSymbols
    .map((line) => line.trim().split(/\s+/).at(-1)?.replace(/@.*/, "") ?? "")
    .filter((symbol, index, all) => /^_?Py/.test(symbol) && all.indexOf(symbol) === index)
    .map((symbol) => {
      if (/(_Type|Struct)$/.test(symbol)) return `char ${symbol}[1024];`;
      return symbol.startsWith("PyExc_") ? `void* ${symbol};` : `void ${symbol}(void) { __builtin_trap(); }`;
    })
    .join("\n");
}

/**
 * librealsense's C API as one library to open, librealsense2.so: the Python extension holds and exports all of it, and a
 * small library that links it stands in for the interpreter's symbols.
 */
const realsenseStep = {
  ...stamped(
    "librealsense (from its Python package)",
    "librealsense",
    { paths: ["scripts/requirements/librealsense.txt", "scripts/lib/native-steps.mjs"] },
    [`${LIBREALSENSE}/librealsense2.so`],
    async () => {
      const folder = join(ROOT, LIBREALSENSE);
      const parts = join(folder, "parts");
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(parts, { recursive: true });
      const requirements = join(ROOT, "scripts/requirements/librealsense.txt");
      const platform = [
        "--python-version",
        "3.11",
        "--implementation",
        "cp",
        "--abi",
        "cp311",
        "--platform",
        "manylinux1_x86_64",
      ];
      const args = ["download", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", ...platform];
      await run(
        "librealsense",
        join(ROOT, ".venvs", "twin", "bin", "pip"),
        [...args, "--require-hashes", "-r", requirements, "-d", parts],
        {
          mend: "check that pip reaches its index; on a workstation give the path of the vendor's librealsense2.so instead",
        },
      );
      const wheel = readdirSync(parts).find((file) => file.endsWith(".whl"));
      await run("librealsense-unpack", findPython(), ["-m", "zipfile", "-e", join(parts, wheel), parts]);
      const inside = join(parts, "pyrealsense2");
      const extension = readdirSync(inside).find((file) => /^pyrealsense2.*\.so$/.test(file));
      const { stdout: dynamic } = spawnSync("objdump", ["-p", join(inside, extension)], { encoding: "utf8" });
      const soname = /SONAME\s+(\S+)/.exec(dynamic ?? "")?.[1];
      const { stdout: symbols } = spawnSync("nm", ["-D", "--undefined-only", join(inside, extension)], {
        encoding: "utf8",
      });
      if (!soname || !symbols) throw new StepError(`${extension} cannot be read\n  mend: apt-get install binutils`);
      copyFileSync(join(inside, extension), join(folder, soname));
      writeFileSync(join(folder, "stand-in.c"), `${interpreterStandIn(symbols.split("\n"))}\n`);
      const shared = ["-shared", "-fPIC", "-w", "-fno-builtin", "-o", "librealsense2.so", "stand-in.c"];
      const link = ["-Wl,--no-as-needed", `-l:${soname}`, "-L.", "-Wl,-rpath,$ORIGIN", "-Wl,--allow-shlib-undefined"];
      await run("librealsense-link", "gcc", [...shared, ...link], { cwd: folder });
      rmSync(parts, { recursive: true });
    },
  ),
  optional:
    "cameras of a recording or of RealSense hardware then need the path of a librealsense2.so in the rig's configuration",
};

const rigVenvStep = venvStep("Python environment of the rig's independent client (ur_rtde)", "rig", [
  "rig",
  "twin-test",
]);

/** The addons and programs of the robot workstation, in a build folder of their own. */
export const rigStep = stamped(
  "rig addons and emulators (C++)",
  "rig",
  {
    paths: [
      "CMakeLists.txt",
      ...["cmake", "common", "pose", ...RIG_ADDONS].map((name) => `native/${name}`),
      "backends/emulators",
      "src/contract/device.proto",
      "scripts/requirements/ruckig.txt",
      "scripts/requirements/ur-rtde.txt",
    ],
    matches: new RegExp(`${NATIVE_SOURCES.source}|\\.(c|cc|in|script|proto)$`),
  },
  [...RIG_ADDONS.map((name) => `build/Release/${name}.node`), ...RIG_PROGRAMS.map((name) => `build/Release/${name}`)],
  async () => {
    const mend = 'read the log; "npm run setup -- --native" fetches what the build needs';
    const options = [`-DS2R_ADDONS=${RIG_ADDONS.join(";")}`, "-DS2R_EMULATORS=ON"];
    await run("rig-configure", "cmake", ["-S", ".", "-B", "build/rig", ...options], { mend });
    await run("rig-build", "cmake", ["--build", "build/rig", "--parallel", "2"], { mend });
  },
);

/** What fetching for the rig does, without anything that builds this project's own sources. */
export const RIG_FETCH_STEPS = [rigSystemStep, urRtdeSourceStep, urRtdeStep, realsenseStep, rigVenvStep];
const withRig = (steps) => [
  ...steps.filter((step) => step !== typescriptStep),
  ...RIG_FETCH_STEPS,
  rigStep,
  typescriptStep,
];
export const RIG_RUN_STEPS = withRig(RUN_STEPS);
export const RIG_TEST_STEPS = withRig(TEST_STEPS);
export const rigBuilt = () => existsSync(join(ROOT, "build/Release/arm.node"));
