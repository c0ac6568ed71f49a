/** `skill2real model check`, `prompt` and `config` as people call them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseLock } from "../../src/config/lock/lock.js";
import { CommandLine } from "../support/command-line.js";
import { answering, failing, ModelEndpoint, saying } from "../support/model-endpoint.js";

async function skill2real(args: readonly string[], options: { env: NodeJS.ProcessEnv; cwd: string }) {
  const command = new CommandLine(args, options);
  const { code } = await command.ended;
  return { code, stdout: command.stdout, stderr: command.stderr };
}

let endpoint: ModelEndpoint;
let folder: string;
beforeAll(async () => {
  endpoint = await ModelEndpoint.start();
  folder = mkdtempSync(join(tmpdir(), "s2r-commands-"));
});
afterAll(async () => {
  await endpoint.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("model check", () => {
  const settings = () => ({
    SKILL2REAL__MODEL__BASE_URL: endpoint.base_url,
    SKILL2REAL__MODEL__NAME: "m",
    OPENAI_API_KEY: "k",
  });
  it("tells vision, the unit of coordinates, tools and latency", async () => {
    endpoint.answer([
      saying("ready"),
      saying('{"x0": 625, "y0": 200, "x1": 875, "y1": 450}'),
      saying(
        { content: null, tool: { name: "finish", arguments: '{"claim":"unresolved","evidence":"none"}' } },
        "tool_calls",
      ),
    ]);
    const { code, stdout } = await skill2real(["model", "check", "--json"], { env: settings(), cwd: folder });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ answers: true, vision: "yes", coordinates: "norm1000", tools: "yes" });
    expect(stdout).toContain('set model.coordinates = \\"norm1000\\"');
  });

  it("says what does not answer, and which key is missing", async () => {
    endpoint.answer([], failing(401, "no"));
    const refused = await skill2real(["model", "check"], { env: settings(), cwd: folder });
    expect(refused.code).not.toBe(0);
    expect(refused.stdout).toMatch(/model_unauthorized/);
    const missing = await skill2real(["model", "check"], { env: {}, cwd: folder });
    expect(missing.stderr).toMatch(/model\.base_url is missing/);
  });
});

describe("config", () => {
  it("tells each value with its origin, and each skill with its reason", async () => {
    writeFileSync(join(folder, "skill2real.toml"), "[skills]\nenable = []\n\n[motion]\nspeed_m_s = 0.1\n");
    const { stdout } = await skill2real(["config", "--json"], {
      env: { SKILL2REAL__EPISODE__MAX_STAGES: "5" },
      cwd: folder,
    });
    const { origins, skills } = JSON.parse(stdout) as { origins: Record<string, string>; skills: { off: unknown[] } };
    expect(origins["motion.speed_m_s"]).toBe("skill2real.toml:5");
    expect(origins["episode.max_stages"]).toBe("environment");
    expect(origins["motion.jerk_m_s3"]).toBe("default");
    expect(skills.off).toContainEqual({ name: "pointing", drop: { reason: "not_enabled", names: [] } });
    rmSync(join(folder, "skill2real.toml"));
  });

  it("without segmenter and pointer says why their skills are off, and is another identity", {
    timeout: 180_000,
  }, async () => {
    endpoint.answer([], answering("application/json", JSON.stringify({ data: [{ id: "eye" }] })));
    const settings = (base_url: string) => ({
      SKILL2REAL__SKILLS__ENABLE: '["pointing", "segmentation"]',
      SKILL2REAL__SERVICES__POINTER: "vlm",
      SKILL2REAL__SERVICES__SEGMENTER: "vlm",
      SKILL2REAL__SERVICES__BASE_URL: base_url,
      SKILL2REAL__SERVICES__NAME: "eye",
    });
    const [with_both, without] = [join(folder, "with.lock"), join(folder, "without.lock")];
    const there = { env: settings(endpoint.base_url), cwd: folder };
    const gone = { env: settings("http://127.0.0.1:9/v1"), cwd: folder };
    expect((await skill2real(["config"], there)).stdout).toMatch(/pointing +│ on .*segmentation +│ on /s);
    expect((await skill2real(["config"], gone)).stdout).toMatch(
      /pointing +│ off │ needs pointer \(missing_service\).*segmentation +│ off │ needs segmenter \(missing_service\).*pointer +│ none +│ no endpoint answers/s,
    );
    await skill2real(["config", "--lock", with_both], there);
    await skill2real(["config", "--lock", without], gone);
    const diff = await skill2real(["config", "--diff", with_both, without], gone);
    expect(diff.code).toBe(1);
    expect(diff.stdout).toContain(
      'policy.skills.off.segmentation: nothing became {"reason":"missing_service","names":["segmenter"]}',
    );
  });

  it("writes locks, says what differs between two, and a run refuses one that does not hold", {
    timeout: 180_000,
  }, async () => {
    const [a, b] = [join(folder, "a.lock"), join(folder, "b.lock")];
    await skill2real(["config", "--lock", a], { env: {}, cwd: folder });
    await skill2real(["config", "--lock", b], { env: { SKILL2REAL__PROGRAM__CALLS: "7" }, cwd: folder });
    expect(parseLock(readFileSync(a, "utf8"), a).environment_hash).toBe(
      parseLock(readFileSync(b, "utf8"), b).environment_hash,
    );
    const diff = await skill2real(["config", "--diff", a, b], { env: {}, cwd: folder });
    expect(diff).toMatchObject({ code: 1, stdout: "policy.program.maxCalls: 1000 became 7\n" });
    const same = await skill2real(["config", "--diff", a, a], { env: {}, cwd: folder });
    expect(same).toMatchObject({ code: 0, stdout: "nothing differs\n" });
    const run = ["run", "--task", "r1", "--seed", "3", "--runs", join(folder, "runs"), "--locked"];
    const refused = await skill2real([...run, b], { env: {}, cwd: folder });
    expect(refused.code).not.toBe(0);
    expect(refused.stdout + refused.stderr).toMatch(/the lock does not hold: policy\.program\.maxCalls: 7 became 1000/);
    expect(await skill2real([...run, a], { env: {}, cwd: folder })).toMatchObject({ code: 0 });
  });
});

describe("prompt", () => {
  it("prints what a model is told, and its size", async () => {
    const whole = await skill2real(["prompt", "--pack", "minimal"], { env: {}, cwd: folder });
    expect(whole.stdout).toContain("### 18. goto_home");
    const sizes = await skill2real(["prompt", "--pack", "minimal", "--sizes"], { env: {}, cwd: folder });
    expect(sizes.stdout).toMatch(new RegExp(`^pack +${whole.stdout.trim().length + 1} characters`));
    const unknown = await skill2real(["prompt", "--pack", "minimol"], { env: {}, cwd: folder });
    expect(unknown.stderr).toMatch(/no prompt pack "minimol".*Did you mean "minimal"/);
  });
});
