import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { parse } from "smol-toml";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Skill2RealError } from "../contract/errors.js";
import { DEFAULT_MOTION_SETTINGS, DEFAULT_PERCEPTION_SETTINGS } from "../contract/settings.js";
import { DEFAULT_QUOTAS, resolveQuotas } from "../program/quotas.js";
import {
  CONFIG_KEYS,
  CONFIG_SECTIONS,
  checkConfig,
  DEFAULT_CONFIG,
  loadConfig,
  quotasOf,
  renderConfigTemplate,
} from "./index.js";
import { keyLines } from "./key-lines.js";

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(Skill2RealError);
    const { code, message } = error as Skill2RealError;
    return `${code}: ${message}`;
  }
  throw new Error("accepted what should be refused");
}

describe("the template", () => {
  it("parses back to the defaults", () => {
    expect(checkConfig(parse(renderConfigTemplate()), "template")).toEqual(DEFAULT_CONFIG);
  });

  it("is still valid with every example uncommented", () => {
    const text = renderConfigTemplate().replace(/^# (?=(\w+ = |\[\[|\[mcp))/gm, "");
    const config = checkConfig(parse(text), "template");
    expect(config.motion.zones).toEqual([{ name: "shelf", min_xyz: [0.5, 0.3, 0], max_xyz: [0.8, 0.6, 0.5] }]);
    expect(config.motion.workspace_min_xyz).toEqual([0.2, -0.4, 0]);
    expect(config.proposer).toMatchObject({ library: "memories/mine", script: "program.ts" });
    expect(Object.keys(config.mcp.servers)).toEqual(["clock", "stock"]);
  });

  it("names every key with its meaning and its limits", () => {
    const text = renderConfigTemplate().replaceAll("\n# ", " ");
    for (const { name, keys } of CONFIG_SECTIONS) {
      expect(text).toContain(`[${name}]`);
      for (const key of keys) {
        expect(text).toContain(key.description);
        expect(text).toContain(key.expected.slice(1));
        expect(text).toContain(key.name);
      }
    }
  });
});

describe("defaults", () => {
  it("are those of the runtime and of the sandbox", () => {
    expect(DEFAULT_CONFIG.motion).toEqual(DEFAULT_MOTION_SETTINGS);
    expect(DEFAULT_CONFIG.perception).toEqual(DEFAULT_PERCEPTION_SETTINGS);
    expect(resolveQuotas(quotasOf(DEFAULT_CONFIG))).toEqual(DEFAULT_QUOTAS);
  });

  it("leave out only what its description says may be left out or is needed for another choice", () => {
    const without = CONFIG_KEYS.filter((key) => key.default === undefined);
    expect(without.map(({ dotted }) => dotted)).toEqual([
      "backend.recording",
      "motion.workspace_min_xyz",
      "motion.workspace_max_xyz",
      "proposer.library",
      "proposer.script",
      "model.base_url",
      "model.name",
      "model.price_in",
      "model.price_out",
      "model.budget_tokens",
      "model.budget_money",
      "model.budget_wait_s",
      "services.base_url",
      "services.name",
      "services.price_in",
      "services.price_out",
      "services.budget_tokens",
      "services.budget_money",
    ]);
  });
});

describe("layers", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "s2r-config-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const write = (text: string, name = "skill2real.toml"): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };

  it("refuse a budget of money that no price is counted against", () => {
    for (const section of ["model", "services"]) {
      write(`[${section}]\nbudget_money = 2.0\n`);
      expect(refusal(() => loadConfig({ cwd: folder }))).toMatch(
        new RegExp(`^bad_config: .*${section}\\.budget_money.* needs price_in or price_out`),
      );
      write(`[${section}]\nbudget_money = 2.0\nprice_out = 10\n`);
      expect(loadConfig({ cwd: folder }).config).toMatchObject({ [section]: { budget_money: 2, price_out: 10 } });
    }
  });

  it("refuse a model's budget of money where a vision model without a price draws on it", () => {
    const priced = "[model]\nbudget_money = 2.0\nprice_in = 1\n[services]\n";
    const vision = 'base_url = "http://127.0.0.1:1/v1"\nname = "eye"\n';
    write(`${priced}${vision}verifier = "vlm"\n`);
    expect(refusal(() => loadConfig({ cwd: folder }))).toMatch(
      /^bad_config: .*model\.budget_money.* needs services\.price_in or services\.price_out with services\.verifier = "vlm"/,
    );
    for (const rest of ["", `${vision}verifier = "vlm"\nprice_out = 3\n`]) {
      write(`${priced}${rest}`);
      expect(loadConfig({ cwd: folder }).config.model.budget_money).toBe(2);
    }
    // The layers count together.
    write(`${priced}${vision}price_in = 3\n`);
    const flags = { "services.segmenter": "vlm" };
    expect(loadConfig({ cwd: folder, flags }).config.services).toMatchObject({ segmenter: "vlm", price_in: 3 });
    write(`${priced}${vision}`);
    expect(refusal(() => loadConfig({ cwd: folder, flags }))).toMatch(/services\.segmenter = "vlm"/);
  });

  it("go over each other: default, file, environment, flag", () => {
    write("[motion]\nspeed_m_s = 0.1\nacceleration_m_s2 = 1.0\njerk_m_s3 = 10.0\n");
    const environment = { SKILL2REAL__MOTION__ACCELERATION_M_S2: "2", SKILL2REAL__MOTION__JERK_M_S3: "20", HOME: "/" };
    const { config, origins, file } = loadConfig({ cwd: folder, environment, flags: { "motion.jerk_m_s3": 30 } });
    expect(file).toBe(join(folder, "skill2real.toml"));
    expect(config.motion).toMatchObject({
      speed_m_s: 0.1,
      acceleration_m_s2: 2,
      jerk_m_s3: 30,
      joint_velocity_scale: 0.6,
    });
    const from = ["motion.speed_m_s", "motion.acceleration_m_s2", "motion.jerk_m_s3", "motion.joint_velocity_scale"];
    expect(from.map((key) => origins.get(key))).toEqual(["file", "environment", "flag", "default"]);
    expect([...origins.keys()]).toEqual(CONFIG_KEYS.map(({ dotted }) => dotted));
  });

  it("resolve paths against the folder of the file, or the working folder", () => {
    mkdirSync(join(folder, "etc"));
    const file = write('[runs]\nfolder = "out"\n[skills]\npaths = ["a", "/b"]\n', "etc/mine.toml");
    const { config } = loadConfig({
      cwd: folder,
      file,
      flags: { "proposer.script": "p.ts", "proposer.kind": "script" },
    });
    expect(config.runs.folder).toBe(join(folder, "etc/out"));
    expect(config.skills.paths).toEqual([join(folder, "etc/a"), "/b"]);
    expect(config.proposer.script).toBe(join(folder, "p.ts"));
    expect(loadConfig({ cwd: folder }).config.runs.folder).toBe(join(folder, "runs"));
  });

  it("read lists and choices from the environment", () => {
    const environment = { SKILL2REAL__SKILLS__ENABLE: '["pointing", "eef"]', SKILL2REAL__BACKEND__KIND: "native" };
    const { config } = loadConfig({ cwd: folder, environment });
    expect(config.skills.enable).toEqual(["pointing", "eef"]);
    expect(config.backend.kind).toBe("native");
  });

  it("take any number in its range, and refuse any outside, naming the limit", () => {
    fc.assert(
      fc.property(fc.double({ min: -3, max: 5, noNaN: true }), (speed) => {
        const load = () => loadConfig({ cwd: folder, flags: { "motion.speed_m_s": speed } }).config.motion.speed_m_s;
        if (speed >= 0.005 && speed <= 2) expect(load()).toBe(speed);
        else
          expect(refusal(load)).toContain(`motion.speed_m_s is ${speed}; it must be a finite number from 0.005 to 2`);
      }),
    );
  });

  it("refuse unknown keys with a suggestion, in every layer", () => {
    write("[motion]\nspede_m_s = 0.1\n");
    expect(refusal(() => loadConfig({ cwd: folder }))).toMatch(
      /^bad_config: .*toml: motion has an unknown key "spede_m_s"\. Did you mean "speed_m_s"\?/,
    );
    write("[moton]\nspeed_m_s = 0.1\n");
    expect(refusal(() => loadConfig({ cwd: folder }))).toContain('Did you mean "motion"?');
    write("");
    const environment = { SKILL2REAL__RUN__FOLDER: "x" };
    expect(refusal(() => loadConfig({ cwd: folder, environment }))).toContain(
      'Did you mean "SKILL2REAL__RUNS__FOLDER"?',
    );
    expect(refusal(() => loadConfig({ cwd: folder, flags: { "runs.folde": "x" } }))).toContain(
      'Did you mean "runs.folder"?',
    );
  });

  it("refuse what is not TOML with line and column, and a file that is not there", () => {
    const file = write("[motion]\nspeed_m_s = = 1\n");
    expect(refusal(() => loadConfig({ cwd: folder }))).toContain(`bad_config: ${file}:2:13 is not valid TOML`);
    expect(refusal(() => loadConfig({ cwd: folder, file: "none.toml" }))).toContain(
      "not_found: there is no configuration file",
    );
    write("");
    const environment = { SKILL2REAL__MOTION__SPEED_M_S: "fast" };
    expect(refusal(() => loadConfig({ cwd: folder, environment }))).toContain('is "fast"; it must be a finite number');
  });

  it("come from a regular file, or a link to one, in UTF-8", () => {
    const file = write("[motion]\nspeed_m_s = 0.1\n");
    symlinkSync(file, join(folder, "link.toml"));
    expect(loadConfig({ cwd: folder, file: "link.toml" }).config.motion.speed_m_s).toBe(0.1);
    for (const other of [folder, "/dev/null"])
      expect(refusal(() => loadConfig({ cwd: folder, file: other }))).toBe(
        `bad_config: ${other} is no regular file: give a configuration file, or a link to one`,
      );
    writeFileSync(join(folder, "latin.toml"), Buffer.from("# Gr\xfc\xdfe\n", "latin1"));
    expect(refusal(() => loadConfig({ cwd: folder, file: "latin.toml" }))).toMatch(
      /^bad_config: .*latin\.toml is no text in UTF-8/,
    );
  });

  it("refuse what does not fit together, also across layers", () => {
    const flags = { "perception.near_m": 3 };
    expect(refusal(() => loadConfig({ cwd: folder, flags }))).toContain(
      "far_m is 2; it must be above near_m, which is 3",
    );
    expect(refusal(() => loadConfig({ cwd: folder, flags: { "proposer.kind": "script" } }))).toContain(
      "proposer.script is missing",
    );
    expect(refusal(() => loadConfig({ cwd: folder, flags: { "backend.kind": "replay" } }))).toContain(
      "backend.recording is missing",
    );
    write('[[motion.zones]]\nname = "a"\nmin_xyz = [0, 0, 1]\nmax_xyz = [1, 1, 1]\n');
    expect(refusal(() => loadConfig({ cwd: folder }))).toContain(
      "motion.zones[0].max_xyz is [1, 1, 1]; it must be above [0, 0, 1]",
    );
  });
});

describe("keyLines", () => {
  it("tells on which line of the file a key stands", () => {
    const text =
      '# head\n[motion]\nspeed_m_s = 0.1 # slow\n\n[ proposer ]\nkind = "script"\n[[motion.zones]]\nname = "a"\n';
    expect([...keyLines(text)]).toEqual([
      ["motion.speed_m_s", 3],
      ["proposer.kind", 6],
    ]);
  });
});

describe("what is no configuration, or tells too much", () => {
  it.each(["model", "services"])("%s.base_url with a password is refused unseen; so is another protocol", (section) => {
    const refused = (address: string): string =>
      refusal(() => loadConfig({ cwd: "/", flags: { [`${section}.base_url`]: address } }));
    const words = refused("http://me:sekret@host/v1");
    expect(words).toMatch(/^bad_config: .*must not have a user or a password in base_url/);
    expect(words).not.toContain("sekret");
    for (const address of ["localhost:1/v1", "file:///etc/passwd", "words"])
      expect(refused(address)).toContain("needs an address with http:// or https:// as base_url");
    expect(loadConfig({ cwd: "/", flags: { [`${section}.base_url`]: "https://h/v1" } }).origins).toBeDefined();
  });
});
