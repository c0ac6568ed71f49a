import { existsSync } from "node:fs";
import { probe } from "./shell.mjs";

/** Debian packages that building and rendering need, with what each is for. */
export const DEBIAN_PACKAGES = {
  "g++": "C++ compiler",
  make: "builds the addons",
  cmake: "builds the addons",
  "libeigen3-dev": "linear algebra headers",
  "libgtest-dev": "C++ test framework",
  libosmesa6: "rendering without a display",
  libegl1: "rendering without a display",
  "libegl-mesa0": "rendering without a display",
  libgl1: "rendering without a display",
  libopengl0: "rendering without a display",
  "fonts-dejavu-core": "captions of contact sheets",
};

/** What the robot workstation (`npm run setup -- --native`) needs on top. */
export const RIG_DEBIAN_PACKAGES = {
  "libboost-dev": "headers of ur_rtde",
  "libboost-system-dev": "ur_rtde",
  "libboost-thread-dev": "ur_rtde",
  "libboost-program-options-dev": "ur_rtde's build looks for it",
  "libusb-1.0-0": "librealsense",
  "libzmq3-dev": "the Stop listener and the emulated cameras",
  "cppzmq-dev": "C++ face of ZeroMQ",
  "nlohmann-json3-dev": "JSON of the capture program and the emulated controller",
  "libcli11-dev": "command line of the emulated controller",
  "pkg-config": "finds ZeroMQ",
  "libprotozero-dev": "protocol buffers of the Stop listener",
  binutils: "reads the symbols of librealsense",
  "rt-tests": "cyclictest, beside which the servo bench measures",
};
// A tool may be there without its Debian package (a toolchain of one's own).
const COMMAND_OF = { "g++": "g++", make: "make", cmake: "cmake" };

/** Words about a Node.js that is too old, or null. */
export function nodeProblem() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  return major > 20 || (major === 20 && minor >= 19)
    ? null
    : `Node.js ${process.version} is too old: 20.19 or newer is needed. Install it, then run the command again.`;
}

/** A Python 3.11 that can make virtual environments, or null. */
export function findPython() {
  for (const name of ["python3.11", "python3"]) {
    if (probe(name, ["-c", "import sys, venv, ensurepip; print(sys.version_info[:2] == (3, 11))"]) === "True")
      return name;
  }
  return null;
}

const packageInstalled = (name) =>
  (probe("dpkg-query", ["--show", "--showformat", `$${"{Status}"}`, name]) ?? "").includes("ok installed");

/** Those of `packages` still to be installed; none where dpkg is not this machine's package manager and the tools are there. */
export function missingDebianPackages(packages = DEBIAN_PACKAGES) {
  const missing = Object.keys(packages).filter(
    (name) => !packageInstalled(name) && !(COMMAND_OF[name] && probe(COMMAND_OF[name], ["--version"])),
  );
  if (findPython() === null) missing.push("python3.11", "python3.11-venv");
  return existsSync("/usr/bin/dpkg-query") ? missing : missing.filter((name) => COMMAND_OF[name]);
}
