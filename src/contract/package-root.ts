import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

function findRoot(): string {
  let dir = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(dir, "package.json"))) {
    const parent = dirname(dir);
    if (parent === dir)
      throw new Error("package.json of skill2real not found above its own sources: reinstall the package");
    dir = parent;
  }
  return dir;
}

/** Folder that holds package.json, whether the code runs from its sources or from dist/. */
export const PACKAGE_ROOT = findRoot();

/** A file that ships with the package as it is (a .proto, a Python server, a skill manifest). */
export const packageFile = (...parts: string[]): string => join(PACKAGE_ROOT, ...parts);

/**
 * The compiled JavaScript of one of our TypeScript modules, for a child process or worker, which cannot run
 * TypeScript: `compiledModule("src/program/guest.ts")` is `<root>/dist/src/program/guest.js`.
 */
export const compiledModule = (source: string): string => join(PACKAGE_ROOT, "dist", source.replace(/\.ts$/, ".js"));
