/** Episodes that were interrupted go on at the end of a stage, and end as if they had never been. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CASSETTE_FILE } from "../src/agents/exchanges/cassette.js";
import { modelSettingsSchema } from "../src/agents/llm/settings.js";
import type { StageRecord } from "../src/agents/proposer.js";
import { resumedRun } from "../src/cli/resumed-run.js";
import { commandConfig } from "../src/cli/settings.js";
import {
  type EpisodeSpec,
  EpisodeWorker,
  type EpisodeWorkerOptions,
  runPath,
} from "../src/evaluation/episode-worker.js";
import { KeptRun } from "../src/evaluation/kept-stages.js";
import { lockPath } from "../src/evaluation/run-folder.js";
import { SimWorld } from "../src/evaluation/sim-world.js";
import { TRACE_PARTS, traceDigest } from "../src/evaluation/trace-digest.js";
import { StopChannel } from "../src/runtime/device/stop-channel.js";
import { TRACE_FILE } from "../src/runtime/trace/mcap-trace.js";
import { fencedPrograms } from "./llm/scripted-models.js";
import { CommandLine } from "./support/command-line.js";
import { failing, ModelEndpoint } from "./support/model-endpoint.js";
import { until } from "./support/processes.js";

let folder: string;
let runs: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "s2r-resume-"));
  runs = join(folder, "runs");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const digestOf = (run: string) => traceDigest(runPath(runs, run, TRACE_FILE));
async function stopFromElsewhere(address: string): Promise<void> {
  const channel = new StopChannel({ address, lostAfterMs: 5_000 });
  await channel.stop("", "another terminal");
  channel.close();
}
const keptPath = (run: string, ...names: string[]) => join(runs, "evaluator", "kept", run, ...names);

describe("a run that was killed", () => {
  const command = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    new CommandLine(["run", "--runs", runs, "--json", ...args], { env, cwd: folder });
  const played = async (line: CommandLine) => {
    const { code } = await line.ended;
    expect(code, line.stderr).toBe(0);
    return JSON.parse(line.stdout) as { run: string; success: boolean; resumed?: { run: string; stage: number } };
  };
  const runOf = (line: CommandLine): string => /^run (\S+)/m.exec(line.stderr)?.[1] ?? "";
  let whole: Awaited<ReturnType<typeof played>>;
  beforeAll(async () => {
    whole = await played(command(["--task", "r1", "--seed", "1000"]));
  }, 300_000);

  it("is not gone on with where it came to its end, and nothing is kept of its stages", {
    timeout: 60_000,
  }, async () => {
    expect(await readdir(keptPath(whole.run))).toEqual(["episode.json"]);
    const again = command(["--resume", "last"]);
    expect((await again.ended).code).not.toBe(0);
    expect(again.stderr).toContain(`run ${whole.run} came to its end (success): there is nothing to go on with`);
  });

  it("goes on before the stage that Ctrl-C ended, and on a wall clock does everything from the start", {
    timeout: 600_000,
  }, async () => {
    const victim = command(["--task", "r1", "--seed", "1000"]);
    await until("stage 2", () => existsSync(keptPath(runOf(victim), "stage-1.json")), 120_000);
    victim.kill("SIGINT");
    expect((await victim.ended).code, victim.stderr).toBe(130);
    const run = runOf(victim);
    const played_stages = (JSON.parse(victim.stdout) as { stages: number }).stages;

    const elsewhere = command(["--resume", run, "--realtime", "20"]);
    await until("the look", () => /^stage 0 /m.test(elsewhere.stderr), 120_000);
    elsewhere.kill("SIGINT");
    expect((await elsewhere.ended).code, elsewhere.stdout).toBe(130);
    expect(elsewhere.stderr).toContain("on a wall clock no world is put back: a new session begins");

    const resuming = command(["--resume", run]);
    const resumed = await played(resuming);
    expect(resuming.stderr).not.toContain("was not kept whole");
    expect(resumed.resumed?.run).toBe(run);
    expect(resumed.resumed?.stage).toBeGreaterThanOrEqual(1);
    expect(resumed.resumed?.stage).toBeLessThanOrEqual(played_stages);
    expect(await digestOf(resumed.run)).toEqual(await digestOf(whole.run));
  });

  it("goes on at the newest stage that is whole, and ends as one that nobody killed", {
    timeout: 600_000,
  }, async () => {
    const victim = command(["--task", "r1", "--seed", "1000"]);
    await until("the end of stage 2", () => /^stage 2 /m.test(victim.stderr), 120_000);
    victim.kill("SIGKILL");
    await victim.ended;
    const run = runOf(victim);
    const stages = (await readdir(keptPath(run))).filter((name) => /^stage-\d+\.json$/.test(name)).length;
    expect(stages).toBeGreaterThanOrEqual(2);
    const newest = stages - 1;
    // As one that the killed simulator did not finish.
    const snapshot = keptPath(run, `stage-${newest}.snapshot`);
    truncateSync(snapshot, statSync(snapshot).size - 100);

    const other = command(["--resume", run], { SKILL2REAL__PROGRAM__CALLS: "7" });
    expect((await other.ended).code).not.toBe(0);
    expect(other.stdout).toContain(`run ${run} cannot be resumed: its lock does not hold: policy.program.maxCalls`);
    const both = command(["--resume", run, "--seed", "3"]);
    expect((await both.ended).code).not.toBe(0);
    expect(both.stderr).toContain("leave --seed out");

    const resuming = command(["--resume", run]);
    const resumed = await played(resuming);
    expect(resuming.stderr).toContain(
      `the end of stage ${newest} was not kept whole (its snapshot is not what was written) and is left out`,
    );
    expect(resumed.resumed).toEqual({ run, stage: newest - 1 });
    expect(resumed.success).toBe(whole.success);
    expect(await digestOf(resumed.run)).toEqual(await digestOf(whole.run));

    const shown = new CommandLine(["show", resumed.run, "--runs", runs], { env: {}, cwd: folder });
    await shown.ended;
    expect(shown.stdout).toContain(`trace digest   ${(await digestOf(whole.run)).digest}`);
    expect(shown.stdout).toContain(`resumed        ${run}, at the end of stage ${newest - 1}`);

    const trace = await readFile(runPath(runs, resumed.run, TRACE_FILE));
    await writeFile(runPath(runs, resumed.run, TRACE_FILE), trace.fill(0xff, 0, 64));
    const damaged = new CommandLine(["show", resumed.run, "--runs", runs], { env: {}, cwd: folder });
    expect((await damaged.ended).code, damaged.stderr).toBe(0);
    expect(damaged.stdout).toMatch(/^trace digest {3}not readable \(.*is not a recording, or is damaged/m);
    expect(damaged.stdout).toContain("outcome finished, claim supported, result success");
  });

  it("is not found where nothing of it is kept", { timeout: 120_000 }, async () => {
    const line = command(["--resume", "20200101-000000-abcdef"]);
    expect((await line.ended).code).not.toBe(0);
    expect(line.stderr).toContain('nothing is kept of a run "20200101-000000-abcdef"');
  });
});

describe("an episode of a language model", () => {
  let endpoint: ModelEndpoint;
  let worker: EpisodeWorker;
  let heard: NonNullable<EpisodeWorkerOptions["onMessage"]> = () => {};
  beforeAll(async () => {
    endpoint = await ModelEndpoint.start();
    worker = new EpisodeWorker({
      runsFolder: runs,
      onMessage: (direction, message) => heard(direction, message),
    });
  });
  afterAll(async () => {
    await worker.close();
    await endpoint.close();
  });
  const spec = (fields: Partial<EpisodeSpec> = {}): EpisodeSpec => ({
    task: "r1",
    seed: 1001,
    proposer: {
      kind: "llm",
      model: modelSettingsSchema.parse({ base_url: endpoint.base_url, model: "scripted", tools: "off" }),
      task_text: "",
    },
    settings: {
      motion: {},
      perception: {},
      quotas: {},
      budgets: { max_stages: 20 },
      skills: { paths: [], enable: ["pointing"], disable: [] },
    },
    keep: { proposer: "llm" },
    ...fields,
  });
  const isStageEnd = (message: unknown, stage: number): boolean =>
    JSON.stringify(message).includes(`"type":"stage_end","stage":${stage},`);

  it("has one digest, recorded, replayed and resumed from a copy that was cut after stage 1", {
    timeout: 600_000,
  }, async () => {
    endpoint.answer([], fencedPrograms);
    const sizes = { trace: 0, cassette: 0, requests: 0 };
    let name = "";
    heard = (_, message) => {
      if (JSON.stringify(message).includes('"type":"play"')) name = (message as { folder: string }).folder;
      if (!isStageEnd(message, 1)) return;
      sizes.trace = statSync(runPath(runs, name, TRACE_FILE)).size;
      sizes.cassette = statSync(runPath(runs, name, CASSETTE_FILE)).size;
      sizes.requests = endpoint.requests.length;
    };
    const recorded = await worker.play(spec());
    heard = () => {};
    expect(recorded.success, recorded.evidence).toBe(true);
    const asked = endpoint.requests.length;
    const digest = await digestOf(recorded.run);

    const { ref_key } = (await KeptRun.open(runs, recorded.run)).episode;
    const cassette = readFileSync(runPath(runs, recorded.run, CASSETTE_FILE), "utf8");
    endpoint.answer([], failing(500, "nobody should ask"));
    const replayed = await worker.play(spec({ refKey: ref_key, replay: { cassette, strict: true } }));
    expect(await digestOf(replayed.run)).toEqual(digest);

    const copy = "20260101-000000-c0ffee";
    for (const path of [(run: string) => join(runs, run), keptPath, (run: string) => lockPath(runs, run)])
      cpSync(path(recorded.run), path(copy), { recursive: true });
    // A few bytes of what came next, as a killed writer leaves them.
    truncateSync(runPath(runs, copy, TRACE_FILE), sizes.trace + 100);
    truncateSync(runPath(runs, copy, CASSETTE_FILE), sizes.cassette + 100);
    endpoint.answer([], fencedPrograms);
    expect((await resumedRun(copy, {}, commandConfig({ runs }))).words).toContain(
      "note: the last line of the cassette was not written to its end and is left out",
    );
    const kept = await KeptRun.open(runs, copy);
    const { newest, ignored } = await kept.newest();
    expect(newest?.stage).toBe(1);
    expect(ignored.at(-1)).toBe("the end of stage 2 was not kept whole (the trace does not reach it) and is left out");
    const resumed = await worker.play(spec({ resume: { kept, stage: newest! } }));
    expect(resumed.infrastructure).toBeNull();
    expect(await digestOf(resumed.run)).toEqual(digest);
    expect(endpoint.requests).toHaveLength(asked - sizes.requests);
    const account = ({ model }: typeof resumed) => ({ ...model, latency_ms: 0 });
    expect(account(resumed)).toEqual(account(recorded));
    expect(resumed).toMatchObject({ success: true, claim: recorded.claim, resumed: { run: copy, stage: 1 } });
  });

  it("has another digest in another world, in every part that sees it", { timeout: 300_000 }, async () => {
    endpoint.answer([], fencedPrograms);
    const [one, other] = [await worker.play(spec({ seed: 1002 })), await worker.play(spec({ seed: 1003 }))];
    const [a, b] = [await digestOf(one.run), await digestOf(other.run)];
    expect(a.digest).not.toBe(b.digest);
    expect(TRACE_PARTS.filter((part) => a.parts[part] !== b.parts[part])).toEqual(
      expect.arrayContaining(["calls", "device", "images"]),
    );
  });

  it("keeps no stage that a stop ended", { timeout: 300_000 }, async () => {
    endpoint.answer([], fencedPrograms);
    const whole = await worker.play(spec({ seed: 1004 }));
    let stage = -1;
    let stopping: Promise<void> | null = null;
    const stopped: EpisodeWorker = new EpisodeWorker({
      runsFolder: runs,
      onStage: (record) => {
        stage = record.stage;
      },
      onCall: () => {
        if (stage === 1) stopping ??= stopped.stop("interrupted by a test");
      },
    });
    const interrupted = await stopped.play(spec({ seed: 1004 }));
    await stopping;
    await stopped.close();
    expect(interrupted).toMatchObject({ outcome: "stopped", stages: 2 });
    const kept = await KeptRun.open(runs, interrupted.run);
    const { newest, ignored } = await kept.newest();
    expect({ stage: newest?.stage, ignored }).toEqual({ stage: 1, ignored: [] });
    const resumed = await worker.play(spec({ seed: 1004, resume: { kept, stage: newest! } }));
    expect(resumed.infrastructure).toBeNull();
    expect(await digestOf(resumed.run)).toEqual(await digestOf(whole.run));
  });

  it.each([
    ["a clock", "for (;;) {}", { turnCpu_s: 0.2 }, "cpu_quota", 0],
    ["a count", "await robot.get_robot_state(); await robot.get_robot_state();", { maxCalls: 1 }, "call_quota", 1],
  ])(
    "keeps a stage that %s ended only where it would end so again",
    {
      timeout: 120_000,
    },
    async (_, source, quotas, code, newest_stage) => {
      const settings = { ...spec().settings, quotas, skills: { paths: [], enable: [], disable: [] } };
      const played = await worker.play(spec({ proposer: { kind: "script", source, fileName: "p.ts" }, settings }));
      const stages = JSON.parse(readFileSync(runPath(runs, played.run, "stages.json"), "utf8")) as StageRecord[];
      expect(stages[1]?.end).toMatchObject({ kind: "killed", code });
      const { newest } = await (await KeptRun.open(runs, played.run)).newest();
      expect(newest?.stage).toBe(newest_stage);
    },
  );

  it("keeps no stage in whose world a stop is latched", { timeout: 300_000 }, async () => {
    endpoint.answer([], fencedPrograms);
    let name = "";
    const latched: EpisodeWorker = new EpisodeWorker({
      runsFolder: runs,
      world: () => {
        const world = new SimWorld({ realtime: 0 });
        const keep = world.keep.bind(world);
        world.keep = async (path) => {
          // Another terminal's stop, between the end of the stage and its snapshot.
          if (path.endsWith("stage-1.snapshot")) await stopFromElsewhere(world.addresses!.stop);
          return keep(path);
        };
        return world;
      },
      onRun: (run) => {
        name = run;
      },
    });
    const interrupted = await latched.play(spec({ seed: 1004 }));
    await latched.close();
    expect(interrupted.outcome).toBe("stopped");
    const { newest } = await (await KeptRun.open(runs, name)).newest();
    expect(newest?.stage).toBe(0);
    expect(existsSync(keptPath(name, "stage-1.snapshot"))).toBe(false);
  });

  it("ends where a stage cannot be kept, and goes on from the one before", { timeout: 300_000 }, async () => {
    endpoint.answer([], fencedPrograms);
    let name = "";
    heard = (_, message) => {
      if (JSON.stringify(message).includes('"type":"play"')) name = (message as { folder: string }).folder;
      // In the way of the next snapshot.
      if (isStageEnd(message, 0)) mkdirSync(keptPath(name, "stage-1.snapshot"));
    };
    const failed = await worker.play(spec());
    heard = () => {};
    expect(failed.infrastructure).toMatch(/^storage_failed: the end of stage 1 cannot be kept: .*end of stage 0/);
    const kept = await KeptRun.open(runs, failed.run);
    const { newest, ignored } = await kept.newest();
    expect(newest?.stage).toBe(0);
    expect(ignored).toHaveLength(1);
    const resumed = await worker.play(spec({ resume: { kept, stage: newest! } }));
    expect(resumed).toMatchObject({ success: true, resumed: { run: failed.run, stage: 0 } });
  });
});
