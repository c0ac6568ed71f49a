/** The functions of the optional skills that ship, on the simulator. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SimBackend } from "../backends/sim/launch.js";
import { loadSkills } from "../src/agents/load-skills.js";
import { PrivilegedClient } from "../src/evaluation/privileged-client.js";
import { openSimulatedSession, type SimulatedSession } from "../src/evaluation/simulated-session.js";
import { DeviceClient } from "../src/runtime/device/device-client.js";
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

describe.skipIf(lacking !== "")(`push, by what the world itself knows${note}`, () => {
  it.each([
    [8, "a box"],
    [9, "a cylinder"],
  ])(
    "moves what it meets, along its direction and no other thing (seed %i, %s)",
    async (seed) => {
      const sim = await SimBackend.spawn({ privileged: true });
      const privileged = await PrivilegedClient.connect(sim.privileged!);
      let session: Session | null = null;
      try {
        const { instruction } = await privileged.reset({ task: "r1", seed });
        const { operations } = await loadSkills({ paths: [], enable: ["pointing", "manipulation"], disable: [] });
        const device = await DeviceClient.connect({ ...sim.addresses, role: "CONTROLLER", client: "test" });
        session = Session.open({ device, operations });
        const value = async (name: string, request: unknown): Promise<Result> => {
          const outcome = await session!.call(name, request);
          return ("value" in outcome ? outcome.value : outcome.error) as Result;
        };
        const places = async () =>
          new Map(
            (await privileged.trueState()).bodies.map(({ name, role, kind, X_world_body: X, size_m }) => [
              name,
              { role, kind, x: X[3]!, y: X[7]!, z: X[11]!, radius: Math.hypot(size_m[0]!, size_m[1]!) / 2 },
            ]),
          );
        const [, thing] = /the ([a-z ]+?) (?:into|onto|in|on) the/.exec(instruction) ?? [];
        const view = await value("get_topdown_stereo_view", {});
        const found = await value("localize_3d", { observation_ref: view.observation_ref, query: thing });
        expect(found, instruction).toMatchObject({ status: "ok", upright_box: expect.anything() });
        const { center, size } = found.upright_box as { center: number[]; size: number[] };
        const centre = { x: center[0]!, y: center[1]!, z: center[2]! };
        const before = await places();
        const distance = (at: { x: number; y: number }, from: { x: number; y: number }): number =>
          Math.hypot(at.x - from.x, at.y - from.y);
        const [pushedName, target] = [...before].find(([, { role }]) => role === "target")!;
        expect(distance(target, centre)).toBeLessThan(0.02);

        // Towards where there is most room, seen from the thing.
        const others = [...before].filter(([name]) => name !== pushedName).map(([, at]) => at);
        const ways = Array.from({ length: 8 }, (_, i) => ({
          x: Math.cos((i * Math.PI) / 4),
          y: Math.sin((i * Math.PI) / 4),
        }));
        const room = (way: { x: number; y: number }): number =>
          Math.min(
            ...[-0.1, 0, 0.1, 0.18].flatMap((s) =>
              others.map((at) => distance(at, { x: centre.x + way.x * s, y: centre.y + way.y * s }) - at.radius),
            ),
          );
        const way = ways.sort((a, b) => room(b) - room(a))[0]!;
        const reach = Math.hypot(size[0]!, size[1]!) / 2;
        const gap = reach + 0.03;
        const start = { x: centre.x - way.x * gap, y: centre.y - way.y * gap, z: Math.max(0.012, centre.z / 2) };
        const pushed = await value("push", {
          start_xyz: [start.x, start.y, start.z],
          direction_world: [way.x, way.y, 0],
          distance_m: gap + 0.05,
        });
        expect(pushed).toMatchObject({ status: "ok", stop_reason: "completed" });
        expect((pushed.links as Links).map(({ purpose }) => purpose)).toEqual([
          "close the fingers",
          "above the start",
          "down",
          "stroke",
          "where the arm is",
          "up",
        ]);
        expect(pushed.displacement_m).toBeCloseTo(gap + 0.05, 2);

        await session.hold(1);
        const after = await places();
        const moved = (name: string) => {
          const [a, b] = [before.get(name)!, after.get(name)!];
          return {
            along: (b.x - a.x) * way.x + (b.y - a.y) * way.y,
            across: Math.abs((b.y - a.y) * way.x - (b.x - a.x) * way.y),
            up: b.z - a.z,
          };
        };
        const truth = moved(pushedName);
        // The fingers ended 5 cm beyond where its centre was, so that is what it was pushed at least, and never further than they went.
        expect(truth.along).toBeGreaterThan(0.04);
        expect(truth.along).toBeLessThan(pushed.displacement_m as number);
        expect(truth.across).toBeLessThan(0.03);
        expect(Math.abs(truth.up)).toBeLessThan(0.01);
        for (const name of before.keys())
          if (name !== pushedName) expect(Math.abs(moved(name).along) + moved(name).across, name).toBeLessThan(0.005);
      } finally {
        await session?.close();
        privileged.close();
        await sim.close();
      }
    },
    120_000,
  );
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
