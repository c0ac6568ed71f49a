import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelSettingsSchema } from "../agents/llm/settings.js";
import { diffLocks } from "../config/lock/lock.js";
import { packageFile } from "../contract/package-root.js";
import { readMemories } from "../memory/index.js";
import { gatherLock, type LockInput } from "./gather-lock.js";

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "s2r-lock-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const settings = {
  motion: { speed_m_s: 0.25 },
  perception: { near_m: 0.3 },
  path_length_m: 20,
  quotas: { calls: 1000 },
  budgets: { max_stages: 12 },
  skills: { paths: [], enable: ["pointing"], disable: [] },
};
const model = modelSettingsSchema.parse({ base_url: "http://somewhere:8080/v1", model: "m", api_key: "a-secret" });
const base: LockInput = {
  proposer: {
    kind: "llm",
    model,
    task_text: "",
    memories: readMemories(packageFile("memories", "starter")),
  },
  settings,
  task: "r1",
  realtime: 0,
};
const llm = (fields: object): LockInput => ({
  ...base,
  proposer: { ...base.proposer, ...fields } as LockInput["proposer"],
});
const asked = (fields: object) => llm({ model: { ...model, ...fields } });
const set = (fields: Partial<LockInput["settings"]>): LockInput => ({ ...base, settings: { ...settings, ...fields } });

function userSkill(folder: string, summary = "Counts."): string {
  mkdirSync(join(root, folder, "counting"), { recursive: true });
  writeFileSync(
    join(root, folder, "counting", "skill.toml"),
    `name = "counting"\nsummary = "${summary}"\nexports = ["count_to"]\n`,
  );
  writeFileSync(join(root, folder, "counting", "index.ts"), "export const functions = {};\n");
  return join(root, folder);
}
const withSkill = (path: string) => set({ skills: { ...settings.skills, paths: [path] } });

describe("what changes the policy", () => {
  it.each<[string, LockInput]>([
    ["the model", asked({ model: "n" })],
    ["its temperature", asked({ temperature: 0.5 })],
    ["its coordinates", asked({ coordinates: "norm1000" })],
    ["the interaction", asked({ interaction: "direct" })],
    ["the pack", asked({ pack: "minimal" })],
    ["repairs", asked({ repairs: 3 })],
    ["a budget of the model", asked({ budget_calls: 7 })],
    ["the context that is trimmed to", asked({ context_tokens: 1000 })],
    ["what is told of the task", llm({ task_text: "words" })],
    ["memories", llm({ memories: undefined })],
    ["a budget of the episode", set({ budgets: { max_stages: 13 } })],
    ["a quota of programs", set({ quotas: { calls: 999 } })],
    ["the way that a program may go", set({ path_length_m: 19 })],
    ["the skills that are on", set({ skills: { ...settings.skills, enable: [] } })],
    ["the kind of Proposer", { ...base, proposer: { kind: "script", source: "return 1;", fileName: "a.ts" } }],
  ])("%s", (_name, other) => {
    const [before, after] = [gatherLock(base), gatherLock(other)];
    expect(after.policy_hash).not.toBe(before.policy_hash);
    expect(after.environment_hash).toBe(before.environment_hash);
    expect(diffLocks(before, after).length).toBeGreaterThan(0);
  });

  it("a skill of the user's, by what it says and not by where it is", () => {
    const here = gatherLock(withSkill(userSkill("here")));
    cpSync(join(root, "here"), join(root, "moved"), { recursive: true });
    expect(gatherLock(withSkill(join(root, "moved")))).toEqual(here);
    expect(gatherLock(withSkill(userSkill("other", "Counts up."))).policy_hash).not.toBe(here.policy_hash);
  });

  it("a pack of the user's, by what it says and not by where it is", () => {
    const pack = (folder: string, words = "Say what you see.") => {
      mkdirSync(join(root, folder), { recursive: true });
      writeFileSync(
        join(root, folder, "pack.toml"),
        'name = "own"\nsummary = "Own words."\n\n[[sections]]\nfile = "words.md"\n',
      );
      writeFileSync(join(root, folder, "words.md"), `${words}\n`);
      return asked({ pack: join(root, folder) });
    };
    const here = gatherLock(pack("pack-here"));
    expect(JSON.stringify(here)).not.toContain(root);
    expect(here.policy).toMatchObject({ proposer: { model: { pack: "own" } } });
    expect(gatherLock(pack("pack-moved"))).toEqual(here);
    expect(gatherLock(pack("pack-other", "Say nothing.")).policy_hash).not.toBe(here.policy_hash);
  });

  it("a script, by its source and not by its name", () => {
    const script = (source: string, fileName: string) =>
      gatherLock({ ...base, proposer: { kind: "script", source, fileName } });
    expect(script("return 1;", "a.ts")).toEqual(script("return 1;", "b.ts"));
    expect(script("return 1;", "a.ts").policy_hash).not.toBe(script("return 2;", "a.ts").policy_hash);
  });

  it("entries that are withheld for want of a skill are named", () => {
    const { proposer } = gatherLock(set({ skills: { ...settings.skills, enable: [] } })).policy as {
      proposer: { memories: { withheld: string[] } };
    };
    expect(proposer.memories.withheld).toContain("look/find_thing.md");
  });
});

it("tools of foreign servers by their words and schemas, where the skill is on, and never by where their servers are", () => {
  const tool = {
    function_name: "mcp_a_b",
    server: "a",
    tool: "b",
    description: "d",
    input: { type: "object" },
    output: null,
  };
  const reach = { kind: "http" as const, url: "http://somewhere:8080/mcp", token: "a-secret" };
  const withTool = (more: object, enable = ["mcp"], tool_servers = [{ name: "a", deadline_s: 1, reach }]) =>
    gatherLock(
      set({
        skills: { paths: [], enable, disable: [], services: ["mcp"], tools: [{ ...tool, ...more }] },
        tool_servers,
      }),
    );
  const lock = withTool({});
  expect(lock.policy.mcp_tools).toEqual([tool]);
  expect(withTool({ description: "other" }).policy_hash).not.toBe(lock.policy_hash);
  expect(withTool({ input: { type: "object", required: ["x"] } }).policy_hash).not.toBe(lock.policy_hash);
  expect(withTool({ description: "other" }, [])).toEqual(withTool({}, []));
  expect(withTool({}, ["mcp"], [])).toEqual(lock);
  expect(JSON.stringify(lock)).not.toMatch(/a-secret|somewhere|8080/);
});

describe("what changes the environment alone", () => {
  it.each<[string, LockInput]>([
    ["a limit of motion", set({ motion: { speed_m_s: 0.5 } })],
    ["how depth is computed", set({ perception: { near_m: 0.4 } })],
    ["the task", { ...base, task: null }],
    ["the clock", { ...base, realtime: 1 }],
  ])("%s", (_name, other) => {
    const [before, after] = [gatherLock(base), gatherLock(other)];
    expect(after.environment_hash).not.toBe(before.environment_hash);
    expect(after.policy_hash).toBe(before.policy_hash);
  });
});

it("holds no secret, path, port or host, and does not depend on them", () => {
  const lock = gatherLock(base);
  expect(JSON.stringify(lock)).not.toMatch(/a-secret|somewhere|8080|http|\/(home|work|tmp|root)\//);
  expect(gatherLock(asked({ base_url: "http://elsewhere:1/v1", api_key: "another" }))).toEqual(lock);
});
