/** The whole text that a model is given, for every pack, with every combination of optional skills and of features. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SimBackend } from "../backends/sim/launch.js";
import { loadSkills } from "../src/agents/load-skills.js";
import { type AssembledPrompt, assembleDirect, assemblePrompt } from "../src/config/prompts/assemble-prompt.js";
import { loadPack, shippedPacks } from "../src/config/prompts/pack.js";
import { DIRECT_PROMPTS, ROLES, roleText } from "../src/config/prompts/texts.js";
import type { Capabilities } from "../src/contract/generated/device.js";
import { OPERATIONS } from "../src/contract/generated/robot-api-dispatch.js";
import type { RequestInfo } from "../src/contract/operation-info.js";
import { formatDiagnostics, ProgramChecker } from "../src/program/index.js";
import { DeviceClient } from "../src/runtime/device/device-client.js";

/** Optional skills that a prompt may speak of. */
const OPTIONAL = ["pointing"];
const subsets = <T>(values: readonly T[]): T[][] =>
  Array.from({ length: 2 ** values.length }, (_, bits) => values.filter((_value, at) => (bits >> at) & 1));

let plain: Capabilities;
beforeAll(async () => {
  const sim = await SimBackend.spawn({ privileged: false });
  const client = await DeviceClient.connect({ ...sim.addresses, role: "OBSERVER", client: "prompts" });
  plain = client.capabilities;
  client.close();
  await sim.close();
});

/** What the simulator says of itself, with and without each feature. */
const variants = (): Capabilities[] =>
  [false, true].flatMap((measured) =>
    [0, 400].flatMap((step_limit) =>
      [false, true].map((press) => ({
        ...plain,
        grippers: plain.grippers.map((gripper) => ({ ...gripper, measured })),
        step_limit,
        features: [...plain.features.filter((name) => name !== "press"), ...(press ? ["press"] : [])],
      })),
    ),
  );

const parameters = (info: RequestInfo): string[] =>
  ("fields" in info ? info.fields : info.variants.flatMap(({ fields }) => fields)).map(({ name }) => name);

/** The documentation of one function: from its heading to the next one of the same or a higher level. */
const partOn = (text: string, name: string): string => {
  const start = text.search(new RegExp(`^### (?:\\d+\\. )?${name}$`, "m"));
  if (start < 0) return "";
  const rest = text.slice(start + 4);
  const end = rest.search(/^#{1,3} /m);
  return end < 0 ? rest : rest.slice(0, end);
};

describe.each([
  ...shippedPacks().map((name) => ({ name, undocumented: loadPack(name).undocumented, make: packed(name) })),
  ...DIRECT_PROMPTS.map((name) => ({ name, undocumented: [] as string[], make: direct(name) })),
])("prompt $name", ({ name: prompt, undocumented, make }) => {
  it.each(subsets(OPTIONAL).map((enable) => ({ enable, on: enable.join(", ") || "none" })))(
    "says of every function that is on, and of no other: $on",
    async ({ enable }) => {
      const skills = await loadSkills({ paths: [], enable, disable: [] });
      const all = await loadSkills({ paths: [], enable: OPTIONAL, disable: [] });
      for (const capabilities of variants()) {
        const { text, sections } = make(skills, capabilities);
        expect(text).not.toMatch(/<!--|\{\{\s*\w+\s*\}\}/);
        for (const { name, request } of OPERATIONS) {
          if (undocumented.includes(name)) continue;
          const part = partOn(text, name);
          expect(part, `${name} in ${prompt}`).toContain(`${name}(request`);
          for (const parameter of parameters(request)) expect(part, `${parameter} of ${name}`).toContain(parameter);
        }
        for (const name of all.functionNames) {
          if (OPERATIONS.some((operation) => operation.name === name)) continue;
          if (skills.functionNames.includes(name)) expect(partOn(text, name)).toContain(`${name}(request`);
          else expect(text).not.toContain(name);
        }
        expect(text.includes("steps_left")).toBe(true);
        expect(sections.reduce((sum, { characters }) => sum + characters, 0)).toBeLessThanOrEqual(text.length);
        expect(text.length).toBeGreaterThan(20_000);
        expect(text.length).toBeLessThan(60_000);
      }
    },
  );
});

function packed(name: string) {
  return (skills: Awaited<ReturnType<typeof loadSkills>>, capabilities: Capabilities): AssembledPrompt =>
    assemblePrompt(loadPack(name), { ...skills, capabilities });
}
function direct(name: (typeof DIRECT_PROMPTS)[number]) {
  return (skills: Awaited<ReturnType<typeof loadSkills>>, capabilities: Capabilities): AssembledPrompt =>
    assembleDirect(name, { ...skills, capabilities });
}

describe("programs in prompts", () => {
  let checker: ProgramChecker | null = null;
  afterAll(() => checker?.close());

  it("all pass the check, as what they are: the body of a program", async () => {
    const skills = await loadSkills({ paths: [], enable: OPTIONAL, disable: [] });
    checker = await ProgramChecker.create({ declarations: skills.declarations, names: skills.functionNames });
    let checked = 0;
    for (const pack of shippedPacks()) {
      const { sections } = loadPack(pack);
      for (const { file, text } of sections)
        for (const [, code] of (text ?? "").matchAll(/^```ts\n(.*?)^```/gms)) {
          const result = await checker.check(code ?? "", `${pack}/${file}`);
          expect(result.ok ? "" : formatDiagnostics(result.diagnostics)).toBe("");
          checked += 1;
        }
    }
    expect(checked).toBeGreaterThanOrEqual(4);
  });
});

describe("texts of the roles", () => {
  const PRIVILEGED = /seed|privileged|predicate|simulat|ground truth|true pose|evaluator|governor|validation/i;
  it.each(ROLES.filter((role) => role.startsWith("proposer")))(
    "%s names nothing that its role must not see",
    (role) => {
      expect(roleText(role)).not.toMatch(PRIVILEGED);
    },
  );

  it("no prompt of a Proposer does, nor names a role above it", async () => {
    const skills = await loadSkills({ paths: [], enable: OPTIONAL, disable: [] });
    for (const pack of shippedPacks())
      expect(assemblePrompt(loadPack(pack), { ...skills, capabilities: plain }).text).not.toMatch(
        /privileged|predicate|ground truth|true pose|evaluator|governor|verifier/i,
      );
  });

  it("the Verifier is told to keep what it alone sees, the Governor to judge by what it is given", () => {
    expect(roleText("verifier")).toMatch(/no coordinates/);
    expect(roleText("governor")).toMatch(/do not ask for more/);
  });
});
