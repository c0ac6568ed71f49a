/** The functions of the optional skills that ship, on the simulator. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSkills } from "../src/agents/load-skills.js";
import { openSimulatedSession, type SimulatedSession } from "../src/evaluation/simulated-session.js";
import { OperationFailure, type SkillServices } from "../src/runtime/operation.js";
import { Session } from "../src/runtime/session.js";
import { missing } from "./support/missing.js";

const lacking = missing();
const note = lacking ? ` (missing: ${lacking})` : "";
type Result = Record<string, unknown> & { status: string };
type Links = { purpose: string; operation: string; status: string }[];

describe.skipIf(lacking !== "")(`manipulation${note}`, () => {
  let robot: SimulatedSession;
  beforeAll(async () => {
    robot = await openSimulatedSession({ seed: 7, skills: ["pointing", "manipulation"] });
  });
  afterAll(() => robot.close());

  const value = async (name: string, request: unknown): Promise<Result> => {
    const outcome = await robot.session.call(name, request);
    return ("value" in outcome ? outcome.value : outcome.error) as Result;
  };

  it("picks and places what the task names, with the evidence of each link, and the task is judged done", async () => {
    const [, thing, receptacle] = /the ([a-z ]+?) (?:into|onto|in|on) the ([a-z ]+)/.exec(robot.instruction) ?? [];
    const view = await value("get_topdown_stereo_view", {});
    const found = await value("localize_3d", { observation_ref: view.observation_ref, query: thing });
    expect(found, robot.instruction).toMatchObject({ status: "ok", upright_box: expect.anything() });
    const target = await value("point_to", { observation_ref: view.observation_ref, query: receptacle });
    expect(target).toMatchObject({ status: "ok", pixel: { u: expect.any(Number), v: expect.any(Number) } });

    const { mask_ref, depth_ref } = found;
    const picked = await value("pick", { mask_ref, depth_ref });
    expect(picked).toMatchObject({ status: "ok" });
    expect((picked.links as Links).map(({ purpose }) => purpose).filter((purpose) => purpose !== "plan")).toEqual([
      "measure",
      "open",
      "approach",
      "contact",
      "close",
      "lift",
      "check",
    ]);
    expect(picked.opening_m).toBeGreaterThan(0.004);

    const placed = await value("place", {
      target_pixel: target.pixel,
      observation_ref: view.observation_ref,
      depth_ref,
    });
    expect(placed).toMatchObject({ status: "ok" });
    await value("goto_home", {});
    expect(await robot.judge()).toMatchObject({ success: true });
  });

  it("ends at the link that fails, with its status, and says what was done before it", async () => {
    const placed = await value("place", {
      target_pixel: { u: 320, v: 240 },
      ...(await (async () => {
        const { observation_ref } = await value("get_topdown_stereo_view", {});
        const { depth_ref } = await value("get_foundation_stereo_depth", { observation_ref });
        return { observation_ref, depth_ref };
      })()),
    });
    expect(placed).toMatchObject({
      status: "no_carry_geometry",
      links: [{ operation: "compile_pose", purpose: "plan" }],
    });
    expect(placed.message).toMatch(/^plan \(compile_pose\): /);
    const away = { start_xyz: [3, 0, 0.2], direction_world: [1, 0, 0], distance_m: 0.05 };
    const pushed = await value("push", away);
    expect(pushed.status).not.toBe("ok");
    expect((pushed.links as Links).at(-1)).toMatchObject({ purpose: "above the start", status: pushed.status });
    expect((pushed.links as Links)[0]).toMatchObject({ operation: "gripper_goto", status: "ok" });
  });

  it("strokes through free space to the end of the way", async () => {
    const { tcp_pose } = (await value("get_robot_state", {})) as { tcp_pose: Record<string, number> } & Result;
    const closed = await value("close", { front_pose: tcp_pose, direction_world: [0, 0, -2], distance_m: 0.03 });
    expect(closed).toMatchObject({ status: "ok", stop_reason: "completed" });
    expect(closed.displacement_m).toBeCloseTo(0.03, 3);
  });

  it("checks requests as operations do", async () => {
    expect(await value("pick", { mask_ref: "mask_1_abcd", depth_reff: "depth_1" })).toMatchObject({
      status: "invalid_argument",
      message: expect.stringMatching(/Did you mean "depth_ref"/),
    });
    expect(await value("pick", { mask_ref: "mask_1_abcd", depth_ref: "depth_1_abcd" })).toMatchObject({
      status: "unknown_ref",
    });
  });
});

describe.skipIf(lacking !== "")(`eef${note}`, () => {
  let robot: SimulatedSession;
  beforeAll(async () => {
    robot = await openSimulatedSession({ seed: 7, skills: ["eef"] });
  });
  afterAll(() => robot.close());
  const pose = async (): Promise<Record<"x" | "y" | "z" | "qx" | "qy" | "qz" | "qw", number>> =>
    (await robot.call("get_robot_state", {})).tcp_pose as never;

  it("moves along the axes of the hand, of the world and of a view", async () => {
    const home = await pose();
    // The hand points down: its z is downwards.
    const down = await robot.call("move_tcp", { frame: "tcp", translation: [0, 0, 0.03] });
    expect(down).toMatchObject({ stop_reason: "completed" });
    expect((await pose()).z).toBeCloseTo(home.z - 0.03, 3);
    await robot.call("move_tcp", { frame: "world", translation: [0.02, 0, 0.03] });
    expect(await pose()).toMatchObject({ x: expect.closeTo(home.x + 0.02, 3), z: expect.closeTo(home.z, 3) });
    await robot.call("goto_home", {});
    const { observation_ref } = await robot.call("get_topdown_stereo_view");
    // The camera looks down: away from it is downwards.
    const away = await robot.call("move_tcp", { frame: "view", observation_ref, translation: [0, 0, 0.02] });
    expect((away.reached_pose as { z: number }).z).toBeCloseTo(home.z - 0.02, 2);
  });

  it("turns about an axis through the TCP, which stays where it is", async () => {
    await robot.call("goto_home", {});
    const before = await pose();
    await robot.call("turn_tcp", { frame: "tcp", axis: [0, 0, 3], angle_rad: 0.4 });
    const after = await pose();
    for (const key of ["x", "y", "z"] as const) expect(after[key]).toBeCloseTo(before[key], 3);
    const dot = (["qx", "qy", "qz", "qw"] as const).reduce((sum, key) => sum + before[key] * after[key], 0);
    expect(2 * Math.acos(Math.min(1, Math.abs(dot)))).toBeCloseTo(0.4, 2);
  });

  it("keeps the limits of goto_pose, and says which goal was refused", async () => {
    const outcome = (await robot.session.call("move_tcp", { frame: "world", translation: [0, 0, -1] })) as {
      value: Result;
    };
    expect(outcome.value.status).toMatch(/outside_workspace|collision|unreachable/);
    expect(outcome.value).toHaveProperty("goal_pose");
    const missing_ref = (await robot.session.call("move_tcp", { frame: "view", translation: [0, 0, 0] })) as {
      value: Result;
    };
    expect(missing_ref.value).toMatchObject({ status: "invalid_argument" });
  });
});

describe.skipIf(lacking !== "")(`functions that ask a service${note}`, () => {
  let robot: SimulatedSession;
  let session: Session;
  let services: SkillServices;
  beforeAll(async () => {
    robot = await openSimulatedSession({ seed: 7, skills: [] });
    services = { pointer: null, segmenter: null, verifier: null };
    const at = { paths: [], enable: ["pointing", "segmentation"], disable: [] };
    const skills = await loadSkills(
      { ...at, services: ["pointer", "segmenter", "verifier"] },
      {
        get pointer() {
          return services.pointer;
        },
        get segmenter() {
          return services.segmenter;
        },
        get verifier() {
          return services.verifier;
        },
      },
    );
    session = Session.open({ device: robot.session.device, operations: skills.operations });
  });
  afterAll(() => robot.close());
  const value = async (name: string, request: unknown = {}): Promise<Result> =>
    ((await session.call(name, request)) as { value: Result }).value;
  const see = async (): Promise<string> => String((await value("get_topdown_stereo_view")).observation_ref);
  const thing = (x0: number, label: string) => ({
    box: { x0, y0: 100, x1: x0 + 40, y1: 140 },
    pixel: { u: x0 + 20, v: 120 },
    label,
  });

  it("a pointer that sees one, none or several", async () => {
    const observation_ref = await see();
    const answer = (things: ReturnType<typeof thing>[]): void => {
      services.pointer = { model: "eye", find: async () => things };
    };
    answer([thing(100, "cup")]);
    expect(await value("localize", { observation_ref, query: "cup" })).toMatchObject({
      status: "ok",
      label: "cup",
      model: "eye",
      box: { x0: 100 },
    });
    expect(await value("point_to", { observation_ref, query: "cup" })).toMatchObject({ pixel: { u: 120, v: 120 } });
    answer([]);
    expect(await value("localize", { observation_ref, query: "cup" })).toMatchObject({ status: "not_found" });
    answer([thing(100, "cup"), thing(200, "mug")]);
    expect(await value("localize", { observation_ref, query: "cup" })).toMatchObject({
      status: "ambiguous",
      message: expect.stringMatching(/cup at \(120, 120\), mug at \(220, 120\)/),
    });
    services.pointer = {
      model: "eye",
      find: async () => {
        throw new OperationFailure("service_failed", "eye: no answer");
      },
    };
    expect(await value("localize", { observation_ref, query: "cup" })).toMatchObject({ status: "service_failed" });
  });

  it("a segmenter: one mask per thing that has one, largest first", async () => {
    const observation_ref = await see();
    services.segmenter = { model: "cutter", find: async () => [thing(100, "a"), thing(300, "b")] };
    const cut = await value("segment_text", { observation_ref, query: "things" });
    expect(cut).toMatchObject({ status: "ok", found: 2, model: "cutter" });
    const segments = cut.segments as { area_px: number; mask_ref: string }[];
    expect(segments.map(({ area_px }) => area_px)).toEqual(
      segments.map(({ area_px }) => area_px).toSorted((a, b) => b - a),
    );
    services.segmenter = { model: "cutter", find: async () => [] };
    expect(await value("segment_text", { observation_ref, query: "things" })).toMatchObject({ segments: [], found: 0 });
  });

  it("a comparison of before and after, of one view and in this order alone", async () => {
    const before_ref = await see();
    const after_ref = await see();
    services.verifier = {
      model: "judge",
      compare: async (before, after) => ({
        differences: [`${before.width} to ${after.width}`],
        seen: "nothing moved",
        uncertainty: "",
      }),
    };
    const question = "what moved?";
    expect(await value("compare_images", { before_ref, after_ref, question })).toMatchObject({
      status: "ok",
      seen: "nothing moved",
      elapsed_s: expect.any(Number),
    });
    expect(await value("compare_images", { before_ref: after_ref, after_ref: before_ref, question })).toMatchObject({
      status: "mismatched_refs",
    });
    const other = String((await value("get_scene_stereo_view")).observation_ref);
    expect(await value("compare_images", { before_ref, after_ref: other, question })).toMatchObject({
      status: "mismatched_refs",
    });
  });
});
