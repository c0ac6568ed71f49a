import type { McpServerConfig } from "../../config/index.js";
import type { AskedServer } from "./probe-tools.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** A server of the configuration with what the environment holds for it. */
export function toolServer(name: string, config: McpServerConfig, environment: Environment): AskedServer {
  const { command, args, env, cwd = ".", url, token_env, tools: allowed, deadline_s } = config;
  const wanted = [...env, ...(token_env === undefined ? [] : [token_env])];
  const unset = wanted.filter((variable) => !environment[variable]);
  const trouble = unset.length === 0 ? null : `the environment variable ${unset.join(", ")} is not set`;
  const values = Object.fromEntries(env.map((variable) => [variable, environment[variable] ?? ""]));
  const token = token_env === undefined ? undefined : environment[token_env];
  const reach: AskedServer["reach"] =
    command === undefined
      ? { kind: "http", url: url ?? "", ...(token ? { token } : {}) }
      : { kind: "stdio", command, args, env: values, cwd };
  return { name, deadline_s, reach, allowed, trouble };
}
