import { z } from "zod";
import { configFileSchema } from "./schema.js";

/** The configuration file as a JSON schema (draft 2020-12), by which editors complete and check skill2real.toml. */
export function configJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(configFileSchema, {
    // What a person writes: keys with a default may be left out.
    io: "input",
    override: ({ jsonSchema }) => {
      // Our own mark of paths, unknown to editors.
      delete (jsonSchema as Record<string, unknown>).path;
    },
  });
  return {
    ...schema,
    title: "skill2real.toml",
    description: "Configuration of skill2real. Metres, radians, seconds. Unknown keys are refused.",
  };
}
