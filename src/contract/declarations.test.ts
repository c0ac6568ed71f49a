import ts from "typescript";
import { describe, expect, it } from "vitest";
import { ROBOT_API_DECLARATIONS } from "./generated/robot-api-declarations.js";
import { OPERATIONS } from "./generated/robot-api-dispatch.js";

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  lib: ["lib.es2022.d.ts"],
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  types: [],
};

const libraries = new Map<string, ts.SourceFile | undefined>();

/** Errors of a program (an async function's body) by file name, under strict TypeScript and nothing but lib es2022. */
function check(bodies: Record<string, string>, outer = "", skills = ""): Record<string, string[]> {
  const files = new Map([
    ["api.d.ts", ROBOT_API_DECLARATIONS],
    ["outer.d.ts", outer],
    ["skills.d.ts", skills],
  ]);
  for (const [name, body] of Object.entries(bodies)) {
    files.set(
      `${name}.ts`,
      `export {};\nasync function program(): Promise<JsonValue | void> {\n${body}\n}\nvoid program;`,
    );
  }
  const host = ts.createCompilerHost(OPTIONS);
  const read = host.getSourceFile.bind(host);
  host.fileExists = (name) => files.has(name) || ts.sys.fileExists(name);
  host.getSourceFile = (name, language, ...rest) => {
    const text = files.get(name);
    if (text !== undefined) return ts.createSourceFile(name, text, language);
    if (!libraries.has(name)) libraries.set(name, read(name, language, ...rest));
    return libraries.get(name);
  };
  const program = ts.createProgram([...files.keys()], OPTIONS, host);
  const errors: Record<string, string[]> = Object.fromEntries(
    [...files.keys()].map((name) => [name.replace(/\.ts$/, ""), []]),
  );
  const all = [
    ...program.getGlobalDiagnostics(),
    ...program.getSyntacticDiagnostics(),
    ...program.getSemanticDiagnostics(),
  ];
  for (const { file, messageText } of all) {
    const name = file?.fileName.replace(/\.ts$/, "") ?? "global";
    errors[name] = [...(errors[name] ?? []), ts.flattenDiagnosticMessageText(messageText, "\n")];
  }
  return errors;
}

const wrong = (body: string): string => (check({ body }).body ?? []).join("\n");

/** What the examples take for granted: results of earlier calls. */
const EARLIER = `
declare const view: ViewOk;
declare const depth: DepthOk;
declare const mask: MaskOk;
declare const plan: GraspPoses;
declare const observation_ref: string;
declare const depth_ref: string;
declare const mask_ref: string;
declare const above: Pose;
declare const down: Pose;
declare const along: Pose;
`;

describe("the declarations", () => {
  it("compile, and so does the example of every operation", () => {
    const bodies = Object.fromEntries(OPERATIONS.map(({ name, example }) => [name, example]));
    const errors = check(bodies, EARLIER);
    expect(Object.keys(errors)).toHaveLength(OPERATIONS.length + 3);
    for (const [name, found] of Object.entries(errors)) expect(found, name).toEqual([]);
  });

  it("let a whole program through, whose result may hold what operations gave", () => {
    const body = `
      const view = await robot.get_topdown_stereo_view();
      if (view.status !== "ok") return { problem: view.message };
      const depth = await robot.get_foundation_stereo_depth({ observation_ref: view.observation_ref });
      const box = { x0: 10, y0: 20, x1: 30, y1: 40 };
      const mask = await robot.get_sam_mask_from_box({ observation_ref: view.observation_ref, box });
      if (depth.status !== "ok" || mask.status !== "ok") return null;
      const seen = await robot.measure_visible_geometry({ mask_ref: mask.mask_ref, depth_ref: depth.depth_ref });
      if (seen.status !== "ok") return seen;
      const axis = [0, 1, 0] as const;
      const plan = await robot.compile_pose({ mode: "grasp", grasp_center_xyz: seen.centroid, closing_axis_world: axis });
      if (plan.status !== "ok" || plan.mode !== "grasp") return { status: plan.status };
      for (const pose of [plan.approach, plan.contact]) {
        const moved = await robot.goto_pose({ pose, speed: 0.5 });
        if (moved.status !== "ok") return { where: moved.reached_pose ?? null, why: moved.stop_reason ?? null };
      }
      try {
        console.log(await robot.get_current_image_path({ view: "scene" }));
      } catch (error) {
        if (error instanceof RobotError && error.code === "no_image") await sleep(0.1);
      }
      const { held_object_state } = await robot.get_previous_proposer_state().then((state) =>
        state.status === "ok" ? state : { held_object_state: [] });
      return { plan, view, held_object_state };`;
    expect(wrong(body)).toBe("");
  });

  it("refuse to read what a result does not have, wrong requests, and what is not in scope", () => {
    const plan = `const plan = await robot.compile_pose({ mode: "grasp", grasp_center_xyz: [0, 0, 0], closing_axis_world: [0, 1, 0] });`;
    const place = `mode: "place", observation_ref: "o", depth_ref: "d", target_pixel: { u: 1, v: 2 }`;
    const refused: [body: string, words: string][] = [
      [`${plan}\nawait robot.goto_pose({ pose: plan.contact });`, "Property 'contact' does not exist"],
      [`${plan}\nif (plan.status === "ok") plan.contact;`, "does not exist on type 'PlacePoses'"],
      [`${plan}\nif (plan.status === "ok" && plan.mode === "place") plan.contact;`, "'contact' does not exist"],
      [`${plan}\nif (plan.status === "no_image") return null;`, "no overlap"],
      [`await robot.goto_pose({ pos: 1 });`, "'pos' does not exist"],
      [`await robot.goto_pose();`, "Expected 1 arguments"],
      [`await robot.get_topdown_stereo_view({ arm: "left" });`, "'never'"],
      [`await robot.get_current_image_path({ view: "top" });`, "'ViewName'"],
      [`await robot.gripper_goto({ opening_m: "0" });`, "'number'"],
      [`await robot.compile_pose({ ${place}, grasp_center_xyz: [0, 0, 0] });`, "'grasp_center_xyz' does not exist"],
      [`await robot.compile_pose({ ${place}, anchor_on_object: [0, 0] });`, "target requires 3"],
      [`robot.goto_home = robot.goto_home;`, "read-only"],
      [`await robot.detect({ text: "can" });`, "'detect' does not exist"],
      ...["process", "require", "fetch", "setTimeout", "document"].map((name): [string, string] => [
        `${name};`,
        `Cannot find name '${name}'`,
      ]),
    ];
    const errors = check(Object.fromEntries(refused.map(([body], index) => [`p${index}`, body])));
    for (const [index, [body, words]] of refused.entries())
      expect(errors[`p${index}`]?.join("\n"), body).toContain(words);
    expect(wrong(`${plan}\nif (plan.status === "ok" && plan.mode === "grasp") plan.contact.x;`)).toBe("");
  });

  it("merge with those of a skill", () => {
    const skill = `interface RobotApi { point_at(request: { text: string }): Promise<Box[]>; }`;
    const bodies = {
      right: `await robot.goto_home();\nreturn { boxes: await robot.point_at({ text: "red can" }) };`,
      wrong: `return { boxes: await robot.point_at({ txt: "red can" }) };`,
    };
    const errors = check(bodies, "", skill);
    expect(errors.right).toEqual([]);
    expect(errors.wrong?.join()).toContain("'txt' does not exist");
  });
});
