import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { Skill2RealError } from "../contract/errors.js";
import { compiledModule } from "../contract/package-root.js";

/** What this machine allows for holding the guest process. The guest itself runs in WebAssembly in any case. */
export type Isolation = {
  /** Own network namespace without any interface, or the host's network. */
  network: "none" | "host";
  /** Node's permission model: reads its own code only, writes nothing, starts nothing. */
  files: "own code only";
  environment: "empty";
  /** The kernel kills the guest when its parent dies, or the guest notices by its closed pipe once it idles. */
  parentDeath: "kernel" | "pipe";
  /** What is missing and why; empty when nothing is. */
  notes: string[];
};

export type GuestCommand = { file: string; args: string[]; isolation: Isolation };

const run = promisify(execFile);

function findExecutable(name: string): string | undefined {
  for (const dir of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(dir, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not here
    }
  }
  return undefined;
}

async function works(file: string | undefined, args: string[]): Promise<boolean> {
  if (file === undefined) return false;
  return run(file, [...args, process.execPath, "--version"], { env: {}, timeout: 10_000 }).then(
    () => true,
    () => false,
  );
}

/** The interpreter's packages, the only code besides ours that the guest process reads, and its WebAssembly file. */
function interpreterFiles(): { folders: string[]; wasm: string } {
  const here = createRequire(import.meta.url);
  const inside = createRequire(here.resolve("quickjs-emscripten"));
  const variants = ["release-sync", "release-asyncify", "debug-sync", "debug-asyncify"].map(
    (name) => `@jitl/quickjs-wasmfile-${name}`,
  );
  const packages = ["quickjs-emscripten-core", ...variants].map((name) => inside.resolve(name));
  const types = createRequire(packages[0] as string).resolve("@jitl/quickjs-ffi-types");
  const entries = [here.resolve("quickjs-emscripten"), ...packages, types];
  return { folders: [...new Set(entries.map(packageFolder))], wasm: inside.resolve(`${variants[0]}/wasm`) };
}

/** The folder of the package that a file in node_modules belongs to. */
function packageFolder(file: string): string {
  const [, folder] = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)/.exec(file) ?? [];
  if (folder === undefined)
    throw new Skill2RealError("setup_incomplete", `${file} is not below node_modules: install the packages again`);
  return folder;
}

/** The command line of the guest process, as locked as this machine allows; `isolation` says how far that is. */
export async function guestCommand(memory_MB: number): Promise<GuestCommand> {
  const unshare = findExecutable("unshare");
  const setpriv = findExecutable("setpriv");
  const [namespaces, deathSignal] = await Promise.all([
    works(unshare, ["-rn", "--"]),
    works(setpriv, ["--pdeathsig", "KILL", "--"]),
  ]);
  const { folders, wasm } = interpreterFiles();
  const permission = process.allowedNodeEnvironmentFlags.has("--permission")
    ? "--permission"
    : "--experimental-permission";
  const ours = [
    "guest-main",
    "guest-vm",
    "guest-memory",
    "guest-scope",
    "guest-stack",
    "print-limits",
    "turn-clock",
  ].map((name) => compiledModule(`src/program/${name}.ts`));
  const node = [
    process.execPath,
    "--max-old-space-size=64",
    "--no-warnings",
    "--no-addons",
    // one compiler thread: the fewer threads a process has, the sooner it is gone
    "--v8-pool-size=1",
    "--disallow-code-generation-from-strings",
    permission,
    ...[...ours, ...folders.map((folder) => `${folder}/*`)].map((path) => `--allow-fs-read=${path}`),
    ours[0] as string,
    wasm,
    String(memory_MB),
  ];
  const prefix = [
    ...(namespaces ? [unshare as string, "-rn", "--"] : []),
    ...(deathSignal ? [setpriv as string, "--pdeathsig", "KILL", "--"] : []),
  ];
  const notes: string[] = [];
  if (!namespaces)
    notes.push(
      "unshare -rn is not permitted or not installed: the guest process keeps the host's network (its code has no way to use it)",
    );
  if (!deathSignal)
    notes.push("setpriv is not installed: a computing guest outlives a killed parent until its CPU quota");
  const [file, ...args] = [...prefix, ...node] as [string, ...string[]];
  return {
    file,
    args,
    isolation: {
      network: namespaces ? "none" : "host",
      files: "own code only",
      environment: "empty",
      parentDeath: deathSignal ? "kernel" : "pipe",
      notes,
    },
  };
}
