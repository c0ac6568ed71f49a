import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cruise, type ICruiseOptions, type ICruiseResult, type IFlattenedRuleSet } from "dependency-cruiser";
import { afterAll, describe, expect, it } from "vitest";
import { PACKAGE_ROOT, packageFile } from "../../src/contract/package-root.js";

type Configuration = { forbidden: NonNullable<IFlattenedRuleSet["forbidden"]>; options: ICruiseOptions };
const { forbidden, options } = createRequire(import.meta.url)(packageFile(".dependency-cruiser.cjs")) as Configuration;

/** Code that a Proposer, a program or a skill runs beside must not hold what reads privileged state. */
const BEYOND_THE_WALL = /privileged|^src\/evaluation\/|^backends\//;
const PROCESSES = [
  "src/agents/host/agent-host-main.ts",
  "src/agents/host/tool-prober-main.ts",
  "src/program/guest-main.ts",
  "src/program/check-worker.ts",
];
/** Loaded by name, so no import leads to them. */
const SKILLS = readdirSync(packageFile("skills"))
  .map((name) => `skills/${name}/index.ts`)
  .filter((path) => existsSync(packageFile(path)));
const ENTRIES = [...PROCESSES, ...SKILLS];

async function graph(entries: readonly string[], baseDir: string): Promise<ICruiseResult> {
  const rules = { ruleSet: { forbidden: forbidden.filter(({ name }) => name === "privileged-wall") }, validate: true };
  const { tsConfig: _, ...rest } = options as ICruiseOptions & { tsConfig?: unknown };
  const { output } = await cruise([...entries], { ...rest, ...rules, baseDir });
  if (typeof output === "string") throw new Error(`the walk over the imports gave text: ${output.slice(0, 200)}`);
  return output;
}

const places: string[] = [];
afterAll(() => {
  for (const place of places) rmSync(place, { recursive: true, force: true });
});

/** A small tree like ours, with the agent host's entry importing what is given. */
function tree(imports: readonly string[]): string {
  const place = mkdtempSync(join(tmpdir(), "s2r-test-"));
  places.push(place);
  const files = {
    "src/agents/host/agent-host-main.ts": imports.map((path) => `import "${path}";`).join("\n"),
    "src/agents/helper.ts": 'export { PrivilegedClient } from "../evaluation/privileged-client.js";',
    "src/runtime/session.ts": "export const session = 1;",
    "src/evaluation/privileged-client.ts": "export class PrivilegedClient {}",
    "src/contract/generated/privileged.ts": "export type Reset = { seed: number };",
    "backends/sim/launch.ts": "export class SimBackend {}",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(place, dirname(path)), { recursive: true });
    writeFileSync(join(place, path), text);
  }
  cpSync(packageFile("package.json"), join(place, "package.json"));
  return place;
}

describe("imports of the processes on the Proposer's side", () => {
  it("reach nothing that reads privileged state", async () => {
    const { modules } = await graph(ENTRIES, PACKAGE_ROOT);
    const ours = modules.map(({ source }) => source).filter((source) => !source.includes("node_modules"));
    expect(ours.filter((source) => BEYOND_THE_WALL.test(source))).toEqual([]);
    // The walk went where it should: through the runtime, to the operations and the device client.
    expect(ours).toEqual(
      expect.arrayContaining([
        ...ENTRIES,
        "src/runtime/session.ts",
        "src/runtime/device/device-client.ts",
        "src/agents/library-proposer.ts",
        "skills/motion/index.ts",
      ]),
    );
    const unresolved = modules
      .flatMap(({ dependencies }) => dependencies)
      .filter(({ couldNotResolve }) => couldNotResolve);
    expect(unresolved.filter(({ module }) => module.startsWith("."))).toEqual([]);
  }, 60_000);

  it("that cross the wall are caught by the rule that the checks enforce", async () => {
    const clean = await graph(["src"], tree(["../../runtime/session.js"]));
    // The helper of the planted tree crosses by itself: that is one.
    expect(clean.summary.violations.map(({ from }) => from)).toEqual(["src/agents/helper.ts"]);
    for (const planted of [
      "../../evaluation/privileged-client.js",
      "../../contract/generated/privileged.js",
      "../../../backends/sim/launch.js",
    ]) {
      const { summary } = await graph(["src"], tree([planted]));
      expect(summary.violations.map(({ from }) => from)).toContain("src/agents/host/agent-host-main.ts");
    }
  }, 60_000);

  it("that cross it by way of another file are seen by the walk", async () => {
    const { modules } = await graph(["src/agents/host/agent-host-main.ts"], tree(["../helper.js"]));
    expect(modules.map(({ source }) => source).filter((source) => BEYOND_THE_WALL.test(source))).toEqual([
      "src/evaluation/privileged-client.ts",
    ]);
  }, 60_000);
});
