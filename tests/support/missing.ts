import { existsSync } from "node:fs";
import { packageFile } from "../../src/contract/package-root.js";

/** What a test that plays episodes needs beside the sources, and where it is. */
const NEEDED: readonly (readonly [string, string])[] = [
  ...["stereo", "scene", "pose"].map(
    (name) => [`the addon ${name}`, packageFile("build", "Release", `${name}.node`)] as const,
  ),
  ["the compiled package", packageFile("dist", "src", "index.js")],
  ["the simulator's Python", packageFile(".venvs", "twin", "bin", "python")],
];

/** Names of what is missing, for the title of a skipped test; empty where all is there. */
export const missing = (): string =>
  NEEDED.filter(([, path]) => !existsSync(path))
    .map(([name]) => name)
    .join(", ");
