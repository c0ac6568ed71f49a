import { type ChildProcess, execFile, type StdioOptions, spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { Skill2RealError } from "../../contract/errors.js";
import { compiledModule } from "../../contract/package-root.js";

/** How far an agent host is kept from the processes around it, as this machine allows. */
export type HostIsolation = {
  /** It sees its own processes only, or those of everybody (their arguments, environments and memory). */
  processes: "own" | "all";
  /** The evaluator's folder is empty to it, or as readable as to the evaluator. */
  evaluatorFolder: "hidden" | "readable";
  /** The kernel kills it when its parent dies, or it ends by itself when its parent hangs up. */
  parentDeath: "kernel" | "pipe";
  /** What is missing and why; empty when nothing is. */
  notes: string[];
};

export type HostCommand = { file: string; args: string[]; isolation: HostIsolation };

const run = promisify(execFile);
const PROBE_TIMEOUT_MS = 10_000;

const works = ([file, ...args]: readonly string[]): Promise<boolean> =>
  run(file as string, [...args, "true"], { timeout: PROBE_TIMEOUT_MS }).then(
    () => true,
    () => false,
  );

/** Covers the folder $0 with an empty one, then becomes the rest of the command, which may not mount any more. */
const COVER = [
  "sh",
  "-c",
  'mount -t tmpfs -o ro,size=4k,mode=0500 none "$0" && exec setpriv --bounding-set -sys_admin --inh-caps -sys_admin -- "$@"',
];
const OWN_PROCESSES = ["--pid", "--fork", "--kill-child", "--mount-proc", "--"];
const DIE_WITH_PARENT = ["setpriv", "--pdeathsig", "KILL", "--"];

/** First as it is (root), then with a user namespace of its own (everybody else, where the system permits it). */
const NAMESPACES = [
  ["unshare", ...OWN_PROCESSES],
  ["unshare", "--map-root-user", ...OWN_PROCESSES],
];

let known: Promise<{ namespaces: string[] | null; deathSignal: boolean }> | undefined;

async function probe(evaluatorFolder: string): Promise<{ namespaces: string[] | null; deathSignal: boolean }> {
  const deathSignal = await works(DIE_WITH_PARENT);
  for (const namespaces of NAMESPACES)
    if (await works([...namespaces, ...COVER, evaluatorFolder])) return { namespaces, deathSignal };
  return { namespaces: null, deathSignal };
}

/** That of the evaluator stays behind, for nothing in it is the host's business. */
const hostEnvironment = (): Record<string, string> => ({
  PATH: process.env.PATH ?? "",
  HOME: process.env.HOME ?? "",
  LANG: "C.UTF-8",
  TMPDIR: process.env.TMPDIR ?? "/tmp",
});

export type HostOptions = {
  /** Hidden from it where the system permits; made where it is missing. */
  evaluatorFolder: string;
  /** Its working folder, made where it is missing. Default: this process's. */
  cwd?: string;
  stdio: StdioOptions;
};

/** Starts a module of ours as an agent host is started, with a channel for messages if `stdio` has one. Throws `storage_failed`. */
export async function startHost(
  module: string,
  { evaluatorFolder, cwd, stdio }: HostOptions,
): Promise<{ child: ChildProcess; isolation: HostIsolation }> {
  const hidden = resolve(evaluatorFolder);
  for (const folder of [...(cwd === undefined ? [] : [cwd]), hidden])
    await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: NodeJS.ErrnoException) => {
      throw new Skill2RealError(
        "storage_failed",
        `the folder ${folder} cannot be made (${cause.code}): give another with --runs, or make it writable`,
        { cause },
      );
    });
  const node = [process.execPath, "--no-warnings", compiledModule(module)];
  const { file, args, isolation } = await hostCommand(node, hidden);
  const child = spawn(file, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env: hostEnvironment(),
    stdio,
    serialization: "json",
    // A group of its own: Ctrl-C in a terminal reaches us alone, and we stop the arm before the host ends.
    detached: true,
  });
  return { child, isolation };
}

/**
 * The command line of an agent host. Skills and Proposers run as code of this process, so it gets, where the kernel allows it,
 * a process table of its own and an empty folder in place of the evaluator's, which must exist.
 */
export async function hostCommand(node: readonly string[], evaluatorFolder: string): Promise<HostCommand> {
  known ??= probe(evaluatorFolder);
  const { namespaces, deathSignal } = await known;
  const notes: string[] = [];
  if (namespaces === null)
    notes.push(
      "the system permits no process namespace (unshare --pid): code of a user's skill could read the arguments and files of this user's other processes, seeds among them",
    );
  if (!deathSignal) notes.push("setpriv is missing: an agent host that computes without end outlives a killed parent");
  const [file, ...args] = [
    ...(deathSignal ? DIE_WITH_PARENT : []),
    ...(namespaces === null ? [] : [...namespaces, ...COVER, evaluatorFolder]),
    ...node,
  ];
  return {
    file: file as string,
    args,
    isolation: {
      processes: namespaces === null ? "all" : "own",
      evaluatorFolder: namespaces === null ? "readable" : "hidden",
      parentDeath: deathSignal ? "kernel" : "pipe",
      notes,
    },
  };
}
