/** The configuration: its keys, how it is loaded, and the template of its file. */
export {
  CONFIG_FILE,
  type ConfigOrigin,
  checkConfig,
  DEFAULT_CONFIG,
  type LoadConfigOptions,
  type LoadedConfig,
  loadConfig,
} from "./config.js";
export { configJsonSchema } from "./json-schema.js";
export { CONFIG_KEYS, CONFIG_SECTIONS, type ConfigKey, type ConfigSection } from "./keys.js";
export { ENVIRONMENT_PREFIX } from "./layers.js";
export type { McpConfig, McpServerConfig } from "./mcp-schema.js";
export { quotasOf } from "./quotas.js";
export { EMULATED, emulatedRig, type FindRigOptions, findRig, type NamedRig, rigTransform } from "./rig.js";
export { RIG_NAME, type Rig, type RigArm, type RigCamera, type RigGripper, type RigPose } from "./rig-schema.js";
export { renderRigTemplate } from "./rig-template.js";
export { type Config, configFileSchema, configSchema } from "./schema.js";
export { renderConfigTemplate } from "./template.js";
