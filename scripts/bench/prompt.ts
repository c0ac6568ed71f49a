/**
 * What it takes to tell a model where it stands: assembling a stage's prompt, resolving skills, and rendering every prompt.
 * Goals: 20 ms for a stage's prompt with a long history, 5 ms for 200 skills, 30 s for all combinations. The first two are judged by
 * p50 of the time and p99 of the processor's time, which does not count waiting for other processes.
 * `npm run bench:prompt -- [--check]`; with --check a missed goal is exit code 1.
 *
 * @module
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import sharp from "sharp";
import { buildPrompt } from "../../src/agents/llm/build-prompt.js";
import { fixedParts, shownEntries } from "../../src/agents/llm/create-llm-proposer.js";
import { estimateTokens } from "../../src/agents/llm/estimate-tokens.js";
import { encodedMessages } from "../../src/agents/llm/live-model.js";
import { modelSettingsSchema } from "../../src/agents/llm/settings.js";
import { type LoadedSkills, loadSkills } from "../../src/agents/load-skills.js";
import type { CallRecord, StageRecord } from "../../src/agents/proposer.js";
import { assembleDirect, assemblePrompt } from "../../src/config/prompts/assemble-prompt.js";
import { loadPack, shippedPacks } from "../../src/config/prompts/pack.js";
import { DIRECT_PROMPTS } from "../../src/config/prompts/texts.js";
import { manifestSchema, SERVICES, type SkillManifest } from "../../src/config/skills/manifest.js";
import { resolveSkills } from "../../src/config/skills/resolve.js";
import type { Capabilities } from "../../src/contract/generated/device.js";
import { packageFile } from "../../src/contract/package-root.js";
import { simulatorCapabilities } from "../../src/evaluation/simulator-capabilities.js";
import { composeProgram, readMemories, triggeredBy } from "../../src/memory/index.js";
import { quantileOf } from "./durations.js";
import { robotVariants } from "./robot-variants.js";

const GOALS = { stage_ms: 20, resolve_ms: 5, combinations_s: 30 };
const ROUNDS = 200;
const WARM_UP_ROUNDS = 20;
/** Of an episode that has used up its stages, each with a full program. */
const STAGES = 12;
const CALLS = 25;
const SKILLS = 200;
const SIZE = { width: 640, height: 480 };
/** Two of them cannot be on together. */
const OPTIONAL = ["pointing", "segmentation", "eef", "manipulation"];

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const ms = (value: number): string => `${value.toFixed(2)} ms`;

type Timed = { p50_ms: number; p99_ms: number; cpu_p99_ms: number };

/** How long a piece of work takes, warm. */
function timed(work: () => unknown): Timed {
  const wall: number[] = [];
  const cpu: number[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
    const before = process.cpuUsage();
    const began = performance.now();
    work();
    const took = performance.now() - began;
    const { user, system } = process.cpuUsage(before);
    if (round < WARM_UP_ROUNDS) continue;
    wall.push(took);
    cpu.push((user + system) / 1e3);
  }
  const [waited, worked] = [wall, cpu].map((values) => values.sort((a, b) => a - b)) as [number[], number[]];
  return {
    p50_ms: quantileOf(waited, 0.5),
    p99_ms: quantileOf(waited, 0.99),
    cpu_p99_ms: quantileOf(worked, 0.99),
  };
}
const judged = ({ p50_ms, cpu_p99_ms }: Timed): number => Math.max(p50_ms, cpu_p99_ms);
const words = ({ p50_ms, p99_ms, cpu_p99_ms }: Timed): string =>
  `p50 ${ms(p50_ms)}, p99 ${ms(p99_ms)} (of the processor ${ms(cpu_p99_ms)})`;

/** Stages as an episode leaves them: programs of the starter library, results at their full length, four images each. */
function history(program: string): StageRecord[] {
  const call = (stage: number, at: number): CallRecord => ({
    operation: "measure_visible_geometry",
    request: { mask_ref: `mask_${at}_k7f2`, depth_ref: `depth_${stage}_p3dq` },
    status: "ok",
    result: JSON.stringify({ status: "ok", message: "", centroid: { x: 0.4312, y: -0.1204, z: 0.0371 } }).padEnd(
      600,
      " ",
    ),
    start_s: stage * 10 + at * 0.2,
    end_s: stage * 10 + at * 0.2 + 0.1,
  });
  const images = (stage: number): StageRecord["images"] =>
    ["topdown", "scene", "wrist_arm", "topdown"].map((view, at) => ({
      kind: at === 3 ? "overlay" : "view",
      view,
      observation_ref: `obs_${stage * 4 + at}_k7f2`,
      path: `images/${at}.png`,
      ...SIZE,
      age_s: at,
    }));
  const looked: StageRecord = {
    ...{ stage: 0, program: null, calls: [], printed: [], end: { kind: "looked" }, start_s: 0, end_s: 1 },
    images: images(0).slice(0, 2),
  };
  const played = Array.from(
    { length: STAGES },
    (_, at): StageRecord => ({
      stage: at + 1,
      program,
      calls: Array.from({ length: CALLS }, (_call, number) => call(at + 1, number)),
      printed: [{ level: "log", text: "the cup stands 0.1204 m from the plate", time_s: (at + 1) * 10 + 1 }],
      end: { kind: "returned", working_state: { next: "place", cup: { x: 0.4312, y: -0.1204, z: 0.0371 } } },
      images: images(at + 1),
      start_s: (at + 1) * 10,
      end_s: (at + 2) * 10,
    }),
  );
  return [looked, ...played];
}

async function measureStage(capabilities: Capabilities): Promise<number> {
  const skills = await loadSkills({ paths: [], enable: ["pointing"], disable: [] });
  const memories = readMemories(packageFile("memories", "starter"));
  const entries = shownEntries(memories, skills.names);
  const settings = modelSettingsSchema.parse({ base_url: "http://localhost/v1", model: "m" });
  const instruction = "Put the red can into the blue tray.";
  const chosen = triggeredBy(memories.brain, instruction);
  if (!chosen) throw new Error(`the starter library has no entry for "${instruction}"`);
  const stages = history(composeProgram(memories.cerebellum, chosen, "observe"));
  const fixed = (): ReturnType<typeof fixedParts> => fixedParts(settings, { ...skills, capabilities }, entries, "");
  const context = { instruction, stages };
  const options = { coordinates: "pixel" as const, images: true, start_s: 0 };
  let worst_ms = 0;
  for (const tokens of [Number.MAX_SAFE_INTEGER, 60_000, 34_000]) {
    const messages = buildPrompt(context, { ...options, fixed: fixed(), tokens });
    const images = messages.flatMap(({ parts }) => parts.filter(({ type }) => type === "image")).length;
    const took = timed(() => buildPrompt(context, { ...options, fixed: fixed(), tokens }));
    worst_ms = Math.max(worst_ms, judged(took));
    const room = tokens === Number.MAX_SAFE_INTEGER ? "all of it" : `cut to ${tokens} tokens`;
    console.log(
      `stage: ${words(took)} with ${STAGES} stages of ${CALLS} calls, ${room}: about ${estimateTokens(messages)} tokens, ${images} images (goal ${GOALS.stage_ms} ms)`,
    );
  }
  await measureEncoding(context, { ...options, fixed: fixed(), tokens: Number.MAX_SAFE_INTEGER });
  return worst_ms;
}

/** Reading and encoding the images for the wire; it waits for the disk and not for a processor, and has no goal. */
async function measureEncoding(...[context, options]: Parameters<typeof buildPrompt>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "s2r-bench-prompt-"));
  try {
    mkdirSync(join(folder, "images"));
    const noise = randomBytes(SIZE.width * SIZE.height * 3).map((byte) => 90 + (byte % 8));
    const png = await sharp(noise, { raw: { ...SIZE, channels: 3 } })
      .png({ compressionLevel: 2 })
      .toBuffer();
    for (let at = 0; at < 4; at += 1) writeFileSync(join(folder, "images", `${at}.png`), png);
    const messages = buildPrompt(context, options);
    const took: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      const began = performance.now();
      await encodedMessages(messages, folder);
      took.push(performance.now() - began);
    }
    took.sort((a, b) => a - b);
    console.log(
      `images: p50 ${ms(quantileOf(took, 0.5))} to read and encode ${STAGES * 4 + 2} of ${(png.length / 1e3).toFixed(0)} kB`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Chains and trees of skills that need services and each other; a fifth of them drops for want of something. */
function generated(): SkillManifest[] {
  const needs = [[], [], ["pointer"], ["segmenter"], ["vlm"]];
  return Array.from({ length: SKILLS }, (_, at) =>
    manifestSchema.parse({
      name: `skill_${at}`,
      summary: "One of many.",
      order: at % 100,
      exports: [`first_${at}`, `second_${at}`],
      needs: needs[at % needs.length],
      needs_any: at % 7 === 0 ? ["verifier", "pointer"] : [],
      export_needs: { [`second_${at}`]: at % 3 === 0 ? ["world_model"] : [] },
      // Backwards in the order of resolution, so that drops take many rounds.
      requires: at % 100 === 99 ? [] : [`skill_${at + 1}`].filter(() => at % 4 !== 0 && at + 1 < SKILLS),
      optional: at % 9 === 0,
    }),
  );
}

function measureResolution(): number {
  const manifests = generated();
  const request = { enable: manifests.filter(({ optional }) => optional).map(({ name }) => name) };
  let worst_ms = 0;
  for (const services of [
    [],
    ["pointer"],
    ["pointer", "segmenter", "vlm"],
    SERVICES,
  ] as (typeof SERVICES)[number][][]) {
    const resolve = () => resolveSkills({ manifests, required: [] }, request, "robot", services);
    const { enabled, off } = resolve();
    const took = timed(resolve);
    worst_ms = Math.max(worst_ms, judged(took));
    console.log(
      `resolution: ${words(took)} of ${SKILLS} skills with ${services.length} services: ${enabled.length} on, ${off.length} off (goal ${GOALS.resolve_ms} ms)`,
    );
  }
  return worst_ms;
}

async function measureCombinations(plain: Capabilities): Promise<number> {
  const began = performance.now();
  const sets = Array.from({ length: 2 ** OPTIONAL.length }, (_, bits) =>
    OPTIONAL.filter((_name, at) => (bits >> at) & 1),
  );
  let prompts = 0;
  let characters = 0;
  for (const enable of sets.filter((set) => !(set.includes("eef") && set.includes("manipulation")))) {
    const skills: LoadedSkills = await loadSkills({ paths: [], enable, disable: [], services: SERVICES.slice(0, 4) });
    for (const capabilities of robotVariants(plain)) {
      const context = { ...skills, capabilities };
      const texts = [
        ...shippedPacks().map((name) => assemblePrompt(loadPack(name), context).text),
        ...DIRECT_PROMPTS.map((name) => assembleDirect(name, context).text),
      ];
      for (const text of texts) {
        const silent = skills.resolved.enabled.flatMap(({ exports }) => exports).filter((name) => !text.includes(name));
        if (silent.length > 0 || /<!--|\{\{\s*\w+\s*\}\}/.test(text))
          throw new Error(`a prompt with ${enable.join(", ")} is not whole: ${silent.join(", ")}`);
        prompts += 1;
        characters += text.length;
      }
    }
  }
  const took_s = (performance.now() - began) / 1e3;
  console.log(
    `combinations: ${took_s.toFixed(2)} s for ${prompts} prompts of ${(characters / prompts / 1e3).toFixed(1)} k characters, ${ms((1e3 * took_s) / prompts)} each with loading the skills (goal ${GOALS.combinations_s} s)`,
  );
  return took_s;
}

const [load = 0] = loadavg();
if (load > availableParallelism())
  console.log(
    `note: load ${load.toFixed(1)} on ${availableParallelism()} processors; times include waiting for others`,
  );
const capabilities = await simulatorCapabilities();
const stage_ms = await measureStage(capabilities);
const resolve_ms = measureResolution();
const combinations_s = await measureCombinations(capabilities);
const met = stage_ms <= GOALS.stage_ms && resolve_ms <= GOALS.resolve_ms && combinations_s <= GOALS.combinations_s;
console.log(
  `prompt: goal ${met ? "met" : "missed"} (stage ${ms(stage_ms)}, resolution ${ms(resolve_ms)}, combinations ${combinations_s.toFixed(1)} s)`,
);
if (values.check && !met) process.exitCode = 1;
