import { readFileSync } from "node:fs";
import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import { packageFile } from "../contract/package-root.js";
import { checkConfig, configJsonSchema, renderConfigTemplate, renderRigTemplate } from "./index.js";
import { checkRig, checkRigs } from "./rig.js";
import { rigSchema } from "./rig-schema.js";

const tables = (text: string): Record<string, unknown> => parse(text).rig as Record<string, unknown>;

describe("the template of a rig", () => {
  it("parses back to a rig whose every default is the schema's own", () => {
    const text = renderRigTemplate("bench");
    const rig = checkRig(tables(text).bench, "template");
    const { arm, ...rest } = rig;
    const { host, payload_kg, payload_cog_m, X_flange_tcp, home_q_rad, look_q_rad } = arm;
    const least = { ...rest, arm: { host, payload_kg, payload_cog_m, X_flange_tcp, home_q_rad, look_q_rad } };
    expect(rig).toEqual(rigSchema.parse(least));
  });

  it("is still valid with every example uncommented", () => {
    const text = renderRigTemplate("bench").replace(/^# (?=\w+ = )/gm, "");
    const rig = checkRig(tables(text).bench, "template");
    expect(rig.arm.zones[0]?.name).toBe("shelf");
    expect(rig.arm.realtime_cpu).toBe(3);
    expect(rig.cameras.wrist).toMatchObject({ exposure_us: 8000, X_parent_camera: { x: 0.06 } });
  });

  it("names every key of arm, gripper, workspace, views and cameras with its meaning", () => {
    const text = renderRigTemplate("bench");
    for (const key of ["realtime", "registers", "payload_cog_m", "position_min_rad", "distance_rad", "dialect"])
      expect(text).toMatch(new RegExp(`^(# )?${key} = `, "m"));
    expect(text).toContain("[rig.bench.arm.limits]");
    expect(text).toContain("[rig.bench.cameras.scene]");
    expect(text.replaceAll("\n# ", " ")).toContain("keep the grip, or switch the motor off");
    for (const line of text.match(/^#.*$/gm) ?? []) expect(line.length).toBeLessThanOrEqual(125);
  });

  it("can stand behind the template of the configuration", () => {
    const { rig, ...config } = parse(`${renderConfigTemplate()}\n${renderRigTemplate("bench")}`);
    expect(checkConfig(config, "template").backend.kind).toBe("sim");
    expect([...checkRigs(rig, "template", "/etc").keys()]).toEqual(["bench"]);
  });
});

type Node = { [key: string]: unknown };

function* nodes(value: unknown): Generator<Node> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield value as Node;
  for (const part of Object.values(value)) yield* nodes(part);
}

describe("the JSON schema", () => {
  const schema = configJsonSchema();

  it("is the one that is kept for editors", () => {
    const kept = readFileSync(packageFile("src", "config", "generated", "skill2real.schema.json"), "utf8");
    expect(JSON.parse(kept)).toEqual(schema);
  });

  it("refuses unknown keys in every table and holds no mark of ours", () => {
    const objects = [...nodes(schema)].filter((node) => node.type === "object" && typeof node.properties === "object");
    expect(objects.length).toBeGreaterThan(15);
    for (const node of objects) expect(node.additionalProperties).toBe(false);
    expect([...nodes(schema)].filter((node) => node.path === true)).toEqual([]);
  });

  it("knows rigs, with what they need and what may be left out", () => {
    const rig = ((schema.properties as Node).rig as Node).additionalProperties as Node;
    expect(rig.required).toEqual(["arm", "workspace"]);
    const arm = (rig.properties as Node).arm as Node;
    expect(arm.required).toEqual(["host", "payload_kg", "payload_cog_m", "X_flange_tcp", "home_q_rad"]);
    expect(Object.keys(arm.properties as Node)).toContain("zones");
  });
});
