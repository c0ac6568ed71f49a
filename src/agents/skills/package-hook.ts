/** Loaded with --import: "skill2real" is this package, wherever the importing file lies. */
import { register } from "node:module";
import { pathToFileURL } from "node:url";
import { compiledModule } from "../../contract/package-root.js";

const url = JSON.stringify(pathToFileURL(compiledModule("src/index.ts")).href);
const hook = `export const resolve = (name, context, next) =>
  name === "skill2real" ? { url: ${url}, shortCircuit: true } : next(name, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
