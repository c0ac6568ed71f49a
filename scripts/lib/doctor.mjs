import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, readFileSync, statfsSync } from "node:fs";
import { cpus, freemem, release, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { rigFindings } from "./doctor-rig.mjs";
import { DEBIAN_PACKAGES, findPython, missingDebianPackages, nodeProblem } from "./machine.mjs";
import { probe, ROOT } from "./shell.mjs";

const HELP = `Usage: skill2real doctor [--rig <name|FILE.toml>] [--config <file>] [--json]

Says what this machine has and lacks, and how to mend it. Loads nothing native; each addon is tried in a process of its own.
With --rig it also checks every device of that rig, permissions and real-time scheduling; nothing moves.
Exit codes: 0 everything needed is there, 3 something is missing.`;

const ADDONS = ["stereo", "scene", "pose"];
const LEAST_FREE_GB = 3;

/** Loads something in a process of its own, so that a crash is a finding and not our end. */
function tried(code) {
  const result = spawnSync(process.execPath, ["--input-type=commonjs", "-e", code], {
    cwd: ROOT,
    encoding: "utf8",
    timeout: 20_000,
  });
  if (result.status === 0) return null;
  return (
    (result.stderr || `ended with ${result.signal ?? result.status}`)
      .trim()
      .split("\n")
      .findLast((line) => /Error|error|signal|cannot/.test(line)) ?? "failed"
  );
}

function* findings() {
  const node = nodeProblem();
  yield { name: "Node.js", ok: !node, found: process.version, mend: node };
  const python = findPython();
  yield {
    name: "Python 3.11",
    ok: python !== null,
    found: python ? probe(python, ["--version"]) : "none",
    mend: "apt-get install python3.11 python3.11-venv",
  };
  for (const tool of ["g++", "cmake", "make"]) {
    const version = probe(tool, ["--version"]);
    yield {
      name: tool,
      ok: version !== null,
      found: version?.split("\n")[0] ?? "none",
      mend: `apt-get install ${tool}`,
    };
  }
  const missing = missingDebianPackages();
  yield {
    name: "Debian packages",
    ok: missing.length === 0,
    found: missing.length === 0 ? `all ${Object.keys(DEBIAN_PACKAGES).length}` : `missing ${missing.join(", ")}`,
    mend: `apt-get install --no-install-recommends ${missing.join(" ")}`,
  };
  const modules = existsSync(join(ROOT, "node_modules", "zeromq"));
  yield { name: "npm packages", ok: modules, found: modules ? "installed" : "none", mend: "npm run setup" };
  if (modules) {
    for (const name of ["zeromq", "better-sqlite3", "sharp"]) {
      const problem = tried(`require(${JSON.stringify(name)})`);
      yield {
        name: `package ${name}`,
        ok: problem === null,
        found: problem ?? "loads",
        mend: "delete node_modules, then npm run setup",
      };
    }
  }
  for (const name of ADDONS) {
    const path = join(ROOT, "build", "Release", `${name}.node`);
    const problem = existsSync(path) ? tried(`require(${JSON.stringify(path)})`) : "not built";
    yield { name: `addon ${name}`, ok: problem === null, found: problem ?? "loads", mend: "npm run build" };
  }
  const venv = join(ROOT, ".venvs", "twin", "bin", "python");
  const mujoco = existsSync(venv) ? probe(venv, ["-c", "import mujoco; print(mujoco.__version__)"]) : null;
  yield { name: "simulator (MuJoCo)", ok: mujoco !== null, found: mujoco ?? "none", mend: "npm run setup" };
  const compiled = existsSync(join(ROOT, "dist", "src", "cli", "main.js"));
  yield { name: "compiled TypeScript", ok: compiled, found: compiled ? "built" : "none", mend: "npm run build" };
  const isolated = probe("unshare", ["-rn", "--", "true"]) !== null;
  yield {
    name: "sandbox without network",
    ok: true,
    warn: !isolated,
    found: isolated ? "unshare -rn works" : "unshare is refused",
    mend: "allow user namespaces: guests then have no network at all, not only none in their language",
  };
  const realtime = probe("chrt", ["-f", "1", "true"]) !== null;
  yield {
    name: "real-time scheduling",
    ok: true,
    warn: !realtime,
    found: realtime ? "SCHED_FIFO allowed" : "SCHED_FIFO refused",
    mend: "only a real arm needs it: raise rtprio in /etc/security/limits.d",
  };
  const { bavail, bsize } = statfsSync(ROOT);
  const free = (bavail * bsize) / 1e9;
  yield {
    name: "disk",
    ok: free >= LEAST_FREE_GB,
    found: `${free.toFixed(1)} GB free`,
    mend: `at least ${LEAST_FREE_GB} GB are needed`,
  };
  for (const [name, folder] of [
    ["runs folder", join(ROOT, "runs")],
    ["temporary folder", tmpdir()],
  ]) {
    let problem = null;
    try {
      mkdirSync(folder, { recursive: true });
      accessSync(folder, constants.W_OK);
    } catch (error) {
      problem = error.code;
    }
    yield { name, ok: problem === null, found: problem ?? "writable", mend: `make ${folder} writable` };
  }
}

function options(args) {
  try {
    const { values } = parseArgs({
      args,
      options: { json: { type: "boolean" }, rig: { type: "string" }, config: { type: "string" } },
    });
    return { given: values };
  } catch (error) {
    return { problem: `doctor: ${error.message.split("\n")[0]}` };
  }
}

export async function doctor(args) {
  if (args.includes("--help") || args.includes("-h")) {
    console.log(HELP);
    return 0;
  }
  const { given, problem } = options(args);
  if (problem) {
    console.error(`${problem}\n\n${HELP}`);
    return 2;
  }
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const machine = {
    skill2real: version,
    kernel: release(),
    cpus: cpus().length,
    memory_gb: Number((totalmem() / 1e9).toFixed(1)),
    free_gb: Number((freemem() / 1e9).toFixed(1)),
  };
  const list = [...findings()];
  if (given.rig !== undefined)
    for await (const finding of rigFindings({ rig: given.rig, config: given.config, tried })) list.push(finding);
  const ok = list.every((finding) => finding.ok);
  if (given.json)
    console.log(
      JSON.stringify(
        {
          ok,
          machine,
          findings: list.map(({ warn = false, mend, ...rest }) => ({
            ...rest,
            warn,
            ...(rest.ok && !warn ? {} : { mend }),
          })),
        },
        null,
        2,
      ),
    );
  else {
    console.log(`skill2real ${version}, ${machine.cpus} processors, ${machine.memory_gb} GB, kernel ${machine.kernel}`);
    for (const { name, ok: fine, warn, found, mend } of list)
      console.log(
        `${fine ? (warn ? "warn" : "ok  ") : "FAIL"}  ${name.padEnd(26)} ${found}${fine && !warn ? "" : `\n      mend: ${mend}`}`,
      );
    console.log(ok ? "Everything that is needed is there." : "Something is missing: see the lines marked FAIL.");
  }
  return ok ? 0 : 3;
}
