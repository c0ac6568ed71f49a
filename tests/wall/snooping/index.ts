import { closeSync, fstatSync, lstatSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Needles arrive and stay veiled by this, so that looking for a thing does not put it where it is looked for. */
const VEIL = 0xa5;
const CHUNK_BYTES = 1 << 20;
const MOST_FILE_BYTES = 64 << 20;
const MOST_FOLDER_DEPTH = 6;

export type Sought = { needles: Record<string, string>; folders?: string[]; memory: "all" | "own" };
export type Snooped = { found: string[]; processes: number; files: number; memory_bytes: number };

type Needle = { name: string; veiled: Uint8Array };

/** Lets others of this process have their turn: the lease is renewed by one of them. */
const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

class Search {
  readonly found = new Set<string>();
  files = 0;
  memory_bytes = 0;

  /** By first byte. */
  readonly #first: (Needle[] | undefined)[] = [];
  readonly #longest: number;
  readonly #buffer: Uint8Array;

  constructor(needles: readonly Needle[]) {
    this.#longest = Math.max(...needles.map(({ veiled }) => veiled.length));
    for (const needle of needles) {
      const first = (needle.veiled[0] as number) ^ VEIL;
      this.#first[first] = [...(this.#first[first] ?? []), needle];
    }
    this.#buffer = new Uint8Array(CHUNK_BYTES + this.#longest);
  }

  bytes(where: string, bytes: Uint8Array): void {
    const first = this.#first;
    for (let at = 0; at < bytes.length; at += 1) {
      const candidates = first[bytes[at] as number];
      if (candidates === undefined) continue;
      for (const { name, veiled } of candidates) {
        let i = 1;
        while (i < veiled.length && bytes[at + i] === ((veiled[i] as number) ^ VEIL)) i += 1;
        if (i === veiled.length) this.found.add(`${where}: ${name}`);
      }
    }
  }

  text(where: string, text: string): void {
    this.bytes(where, Buffer.from(text, "utf8"));
  }

  /** A part of a file, in chunks that overlap by what a needle may span. */
  async part(where: string, file: number, from: number, length: number): Promise<number> {
    let done = 0;
    while (done < length) {
      const read = readSync(file, this.#buffer, 0, Math.min(this.#buffer.length, length - done), from + done);
      if (read === 0) break;
      this.bytes(where, this.#buffer.subarray(0, read));
      done += read < this.#buffer.length ? read : CHUNK_BYTES;
      await breathe();
    }
    this.#buffer.fill(0);
    return done;
  }
}

/** What cannot be read is passed over: that is what was tested. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

async function searchFile(search: Search, where: string, path: string): Promise<void> {
  const file = attempt(() => openSync(path, "r"));
  if (file === undefined) return;
  try {
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size > MOST_FILE_BYTES) return;
    search.files += 1;
    await search.part(where, file, 0, stat.size);
  } catch {
    // gone, or not to be read
  } finally {
    closeSync(file);
  }
}

async function searchFolder(search: Search, folder: string, depth = 0): Promise<void> {
  for (const name of attempt(() => readdirSync(folder)) ?? []) {
    const path = join(folder, name);
    search.text(path, name);
    const stat = attempt(() => lstatSync(path));
    if (stat?.isSymbolicLink()) search.text(path, attempt(() => readlinkSync(path)) ?? "");
    else if (stat?.isFile()) await searchFile(search, path, path);
    else if (stat?.isDirectory() && depth < MOST_FOLDER_DEPTH) await searchFolder(search, path, depth + 1);
  }
}

async function searchMemory(search: Search, pid: string): Promise<void> {
  const maps = attempt(() => readFileSync(`/proc/${pid}/maps`, "utf8"));
  const memory = attempt(() => openSync(`/proc/${pid}/mem`, "r"));
  if (maps === undefined || memory === undefined) return;
  try {
    for (const line of maps.split("\n")) {
      const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      if (from === undefined || to === undefined) continue;
      const start = Number.parseInt(from, 16);
      try {
        search.memory_bytes += await search.part(`/proc/${pid}/mem`, memory, start, Number.parseInt(to, 16) - start);
      } catch {
        // a region that cannot be read, or is gone by now
      }
    }
  } finally {
    closeSync(memory);
  }
}

async function searchProcess(search: Search, pid: string): Promise<void> {
  for (const name of ["cmdline", "environ", "comm", "status", "mountinfo", "net/unix"]) {
    const content = attempt(() => readFileSync(`/proc/${pid}/${name}`));
    if (content) search.bytes(`/proc/${pid}/${name}`, content);
  }
  for (const fd of attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? []) {
    const path = `/proc/${pid}/fd/${fd}`;
    search.text(path, attempt(() => readlinkSync(path)) ?? "");
    await searchFile(search, path, path);
  }
}

export async function snoop(request: Sought): Promise<Snooped> {
  const needles = Object.entries(request.needles).map(([name, hex]) => ({ name, veiled: Buffer.from(hex, "hex") }));
  const search = new Search(needles);
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  for (const pid of processes) await searchProcess(search, pid);
  // The folder of runs, what lies beside it, and the sockets and notes of this machine's temporary folder.
  const ours = (attempt(() => readdirSync(tmpdir())) ?? []).filter((name) => /^(s2r|skill2real)-/.test(name));
  const folders = [process.cwd(), dirname(process.cwd()), ...ours.map((name) => join(tmpdir(), name))];
  for (const folder of new Set([...folders, ...(request.folders ?? [])])) await searchFolder(search, folder);
  for (const pid of request.memory === "all" ? processes : [String(process.pid)]) await searchMemory(search, pid);
  const { found, files, memory_bytes } = search;
  return { found: [...found], processes: processes.length, files, memory_bytes };
}

export const functions = {
  snoop: async (
    _context: unknown,
    {
      needles,
      folders,
      memory,
    }: Omit<Sought, "needles" | "folders"> & { needles: unknown; folders?: readonly string[] },
  ) => snoop({ needles: needles as Record<string, string>, folders: [...(folders ?? [])], memory }),
};
