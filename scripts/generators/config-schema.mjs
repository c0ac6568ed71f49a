import { join } from "node:path";
import { runnerImport } from "vite";

/** Where the JSON schema of skill2real.toml is kept. */
export const CONFIG_SCHEMA = "src/config/generated/skill2real.schema.json";

/** The file's path and text, from the configuration's own schema as its source says it now. */
export async function configSchemaOutput(root) {
  const { module } = await runnerImport(join(root, "src", "config", "json-schema.ts"), {
    root,
    configFile: false,
    logLevel: "error",
  });
  return [CONFIG_SCHEMA, `${JSON.stringify(module.configJsonSchema(), null, 2)}\n`];
}
