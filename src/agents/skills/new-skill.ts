import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseManifest } from "../../config/skills/manifest.js";
import { Skill2RealError } from "../../contract/errors.js";
import { skillTypes, TYPES_FILE } from "./check-skill-types.js";
import { skillDataOf } from "./skill-data.js";

const pascal = (name: string): string =>
  name.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

const manifest = (name: string): string => `name = "${name}"
summary = "Says how high the hand is above the table."
exports = ["${name}_height"]
requires = ["kinematics"]
`;

const proto = (
  name: string,
): string => `// Functions of the skill "${name}": what they take and give. The comments are their documentation.
syntax = "proto3";

package skill2real.robot.v1.${name};

import "robot_api.proto";

service ${pascal(name)} {
  // Gives the height of the TCP above the table, measured now.
  rpc ${name}_height(${pascal(name)}HeightRequest) returns (${pascal(name)}HeightResponse) {
    option (statuses) = "arm_required unknown_arm";
    option (example) = "const height = await robot.${name}_height({});\\nif (height.status === \\"ok\\") console.log(height.height_m);";
  }
}

// Which arm.
message ${pascal(name)}HeightRequest {
  optional string arm = 1; // may be left out with one arm
}
// How high it is.
message ${pascal(name)}HeightResponse {
  StatusCode status = 1; // ok: the height was measured
  string message = 2;    // for a person
  double height_m = 3;   // of the TCP above the table
}
`;

const code = (name: string): string => `/// <reference path="./${TYPES_FILE}" />

export const functions: SkillFunctions = {
  ${name}_height: async (context, { arm }) => {
    const state = await context.invoke("get_robot_state", arm === undefined ? {} : { arm });
    if (state.status !== "ok") return context.fail(state.status, state.message);
    return { height_m: state.tcp_pose.z - state.workspace.table_z };
  },
};
`;

const test = (name: string): string => `// Run with: skill2real skills test <this folder>
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadSkills } from "skill2real";

const folder = fileURLToPath(new URL(".", import.meta.url));
const { operations } = await loadSkills({ paths: [folder], enable: ["${name}"], disable: [] });
const { check, run, conform } = operations.${name}_height;

const context = {
  invoke: async () => ({ status: "ok", message: "", tcp_pose: { z: 0.32 }, workspace: { table_z: 0.02 } }),
};

test("the height is that above the table, as documented", async () => {
  const result = await run(context, check({}));
  assert.ok(Math.abs(result.height_m - 0.3) < 1e-9);
  assert.deepEqual(conform({ status: "ok", message: "", ...result }), { status: "ok", message: "", ...result });
});

test("a request that is not as documented is refused", () => {
  assert.throws(() => check({ arn: "left" }), /unknown key "arn". Did you mean "arm"/);
});
`;

/** Writes a folder with a skill that works. Throws Skill2RealError `bad_argument` where there is one, or the name is none. */
export async function newSkill(name: string, parent: string): Promise<{ folder: string; files: string[] }> {
  parseManifest(manifest(name), "the new skill");
  const folder = join(parent, name);
  if (existsSync(folder))
    throw new Skill2RealError("bad_argument", `${folder} exists already: choose another name or --folder`);
  mkdirSync(folder, { recursive: true });
  const files = {
    "skill.toml": manifest(name),
    "skill.proto": proto(name),
    "index.ts": code(name),
    [`${name}.test.mjs`]: test(name),
  };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  await writeSkillTypes(folder, name);
  return { folder, files: [...Object.keys(files), TYPES_FILE] };
}

/** Writes the types of a skill anew, after its skill.proto was changed. */
export async function writeSkillTypes(folder: string, name: string): Promise<void> {
  const types = await skillTypes(folder, name, await skillDataOf(folder, name), "skill2real");
  const banner = '// Generated from skill.proto: run "skill2real skills check" on this folder after changing it.\n';
  writeFileSync(join(folder, TYPES_FILE), `${banner}${types}`);
}
