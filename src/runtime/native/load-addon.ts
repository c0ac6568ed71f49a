import { createRequire } from "node:module";
import { Skill2RealError } from "../../contract/errors.js";
import { packageFile } from "../../contract/package-root.js";

/** Loads `build/Release/<name>.node`; throws `addon_missing` with the mend where it is not built. */
export function loadAddon<T>(name: string): T {
  const path = packageFile("build", "Release", `${name}.node`);
  try {
    return createRequire(import.meta.url)(path) as T;
  } catch (cause) {
    throw new Skill2RealError(
      "addon_missing",
      `the native addon "${name}" cannot be loaded from ${path}: run "npm run build" and, if that fails, "skill2real doctor"`,
      { cause },
    );
  }
}
