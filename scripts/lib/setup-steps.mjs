import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findPython, missingDebianPackages, nodeProblem, RIG_DEBIAN_PACKAGES } from "./machine.mjs";
import { ROOT, run, StepError } from "./shell.mjs";
import { digest, fresh, stamp } from "./stamps.mjs";

const ADDONS = ["stereo", "scene", "pose"];
export const NATIVE_SOURCES = /\.(cpp|h|hpp|cc|txt|cmake)$/;
const aptCommand = (packages) => `apt-get update && apt-get install -y --no-install-recommends ${packages.join(" ")}`;

/** A step that runs when `inputs` changed since it last ended well, or when one of `outputs` is gone. */
export function stamped(title, name, inputs, outputs, work) {
  const value = () => digest(inputs.paths ?? [], [process.version, ...(inputs.words ?? [])], inputs.matches);
  return {
    title,
    done: () => fresh(name, value(), outputs),
    run: async () => {
      await work();
      stamp(name, value());
    },
  };
}

/** Installs Debian packages; without root it says what to paste. */
async function installPackages(packages) {
  const paste = aptCommand(packages);
  if (process.getuid() !== 0)
    throw new StepError(
      `missing: ${packages.join(", ")}\n  mend: paste this, then run the command again:\n    sudo sh -c '${paste}'`,
    );
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await run("apt-update", "apt-get", ["update"], { env, mend: "check the machine's package sources" });
  await run("apt-install", "apt-get", ["install", "-y", "--no-install-recommends", ...packages], {
    env,
    mend: `try by hand: ${paste}`,
  });
}

export const systemStep = {
  title: "Debian packages and tools of this machine",
  done: () => !nodeProblem() && findPython() !== null && missingDebianPackages().length === 0,
  run: async () => {
    const problem = nodeProblem();
    if (problem) throw new StepError(problem);
    const packages = missingDebianPackages();
    if (packages.length > 0) await installPackages(packages);
    if (findPython() === null)
      throw new StepError(
        "Python 3.11 with venv is not to be had.\n  mend: install python3.11 and python3.11-venv, or put a python3.11 on the PATH",
      );
  },
};

export const rigSystemStep = {
  title: "Debian packages of the robot workstation",
  done: () => missingDebianPackages(RIG_DEBIAN_PACKAGES).length === 0,
  run: () => installPackages(missingDebianPackages(RIG_DEBIAN_PACKAGES)),
};

export const npmStep = stamped(
  "npm packages",
  "npm",
  { paths: ["package.json", "package-lock.json"] },
  ["node_modules/zeromq", "node_modules/better-sqlite3/build"],
  () =>
    run("npm-ci", "npm", ["ci", "--no-audit", "--no-fund"], {
      mend: 'delete node_modules and run "npm ci" by hand to see the whole message',
    }),
);

export function venvStep(title, name, requirements) {
  const files = requirements.map((file) => `scripts/requirements/${file}.txt`);
  return stamped(
    title,
    `venv-${name}-${requirements.join("-")}`,
    { paths: files },
    [`.venvs/${name}/bin/python`],
    async () => {
      const python = findPython();
      const venv = join(ROOT, ".venvs", name);
      mkdirSync(join(ROOT, ".venvs"), { recursive: true });
      const mend = `delete .venvs/${name} and run the command again`;
      await run(`venv-${name}`, python, ["-m", "venv", venv], { mend });
      const args = files.flatMap((file) => ["-r", join(ROOT, file)]);
      await run(
        `pip-${name}`,
        join(venv, "bin", "pip"),
        ["install", "--disable-pip-version-check", "--no-deps", ...args],
        { mend },
      );
    },
  );
}

export const twinStep = venvStep("Python environment of the simulator (MuJoCo)", "twin", ["twin"]);
export const twinTestStep = venvStep("pytest for the simulator's own tests", "twin", ["twin-test"]);
export const toolsStep = venvStep("Python environment of the checkers and oracles", "tools", ["tools"]);

/** A source package of the Python index, pinned by hash in scripts/requirements/<name>.txt, unpacked to .deps/<folder>. */
function sourceStep(title, name, pypi, folder, pip = "twin") {
  const requirements = `scripts/requirements/${name}.txt`;
  return stamped(title, name, { paths: [requirements] }, [`.deps/${folder}/CMakeLists.txt`], async () => {
    const deps = join(ROOT, ".deps");
    mkdirSync(deps, { recursive: true });
    const args = ["download", "--disable-pip-version-check", "--no-deps", "--no-binary", pypi, "--require-hashes"];
    await run(name, join(ROOT, ".venvs", pip, "bin", "pip"), [...args, "-r", join(ROOT, requirements), "-d", deps], {
      mend: "check that pip reaches its index",
    });
    const archive = join(deps, `${folder}.tar.gz`);
    rmSync(join(deps, folder), { recursive: true, force: true });
    await run(`${name}-unpack`, "tar", ["xzf", archive, "-C", deps]);
    rmSync(archive);
  });
}

export const ruckigStep = sourceStep("Ruckig's source", "ruckig", "ruckig", "ruckig-0.19.4");

export const addonsStep = stamped(
  "native addons (C++)",
  "addons",
  {
    paths: [
      "CMakeLists.txt",
      ...["cmake", "common", ...ADDONS].map((name) => `native/${name}`),
      "scripts/requirements/ruckig.txt",
    ],
    matches: NATIVE_SOURCES,
  },
  ADDONS.map((name) => `build/Release/${name}.node`),
  () =>
    run(
      "addons",
      join(ROOT, "node_modules", ".bin", "cmake-js"),
      ["compile", "--parallel", "2", "--out", "build/native"],
      {
        mend: 'read build/logs/addons.log; "npm run setup" fetches what the build needs',
      },
    ),
);

export const typescriptStep = stamped(
  "TypeScript",
  "typescript",
  { paths: ["tsconfig.json", "tsconfig.build.json", "src", "skills", "backends", "scripts"], matches: /\.(ts|json)$/ },
  ["dist/src/index.js"],
  () =>
    run("tsc", join(ROOT, "node_modules", ".bin", "tsc"), ["-p", "tsconfig.build.json"], {
      mend: "mend the errors above",
    }),
);

export const urRtdeSourceStep = sourceStep("ur_rtde's source", "ur-rtde", "ur-rtde", "ur_rtde-1.6.5");

/** What running needs; what testing needs comes on top. */
export const RUN_STEPS = [systemStep, npmStep, twinStep, ruckigStep, addonsStep, typescriptStep];
export const TEST_STEPS = [
  systemStep,
  npmStep,
  twinStep,
  twinTestStep,
  toolsStep,
  ruckigStep,
  addonsStep,
  typescriptStep,
];
