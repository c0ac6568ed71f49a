import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./shell.mjs";

const stampPath = (name) => join(ROOT, "build", "stamps", name);

function files(path, matches) {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => !["node_modules", "__pycache__"].includes(entry.name))
    .flatMap((entry) => files(join(path, entry.name), matches))
    .filter((file) => matches.test(file));
}

/** Digest of files and folders (those whose names match) and of extra words. */
export function digest(paths, words = [], matches = /./) {
  const hash = createHash("sha256");
  for (const path of paths)
    for (const file of files(join(ROOT, path), matches).sort())
      hash.update(file.slice(ROOT.length)).update(readFileSync(file));
  for (const word of words) hash.update(`\0${word}`);
  return hash.digest("hex");
}

/** True where the step `name` was finished with the same inputs and its outputs are still there. */
export function fresh(name, value, outputs = []) {
  const path = stampPath(name);
  return (
    existsSync(path) &&
    readFileSync(path, "utf8") === value &&
    outputs.every((output) => existsSync(join(ROOT, output)))
  );
}

export function stamp(name, value) {
  mkdirSync(join(ROOT, "build", "stamps"), { recursive: true });
  writeFileSync(stampPath(name), value);
}
