import { describe, expect, it } from "vitest";
import { isSkill2RealError } from "../../contract/errors.js";
import { ArmKinematics, type CompileGraspOptions, type Trajectory, type Vec3 } from "./pose.js";
import { HOME_RAD, testArm, toolDown } from "./pose-test-arm.js";

const arm = ArmKinematics.create(testArm());

function expectOk(plan: { status: string }): asserts plan is Trajectory {
  expect(plan).toMatchObject({ status: "ok" });
}

async function codeOf(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    return isSkill2RealError(error) ? `${error.code}: ${error.message}` : String(error);
  }
  return "nothing thrown";
}

/** Points on top and sides of an upright box without yaw, and on the table around. */
function cloudOf(center: Vec3, size: Vec3, table = true): Float32Array {
  const points: number[] = [];
  const [hx, hy, hz] = size.map((s) => s / 2) as [number, number, number];
  for (let x = -hx; x <= hx; x += 0.003) {
    for (let y = -hy; y <= hy; y += 0.003) points.push(center[0] + x, center[1] + y, center[2] + hz);
    for (let z = -hz; z <= hz; z += 0.003) {
      points.push(center[0] + x, center[1] - hy, center[2] + z, center[0] + x, center[1] + hy, center[2] + z);
    }
  }
  if (table) {
    for (let x = 0.3; x < 0.7; x += 0.005) for (let y = -0.3; y < 0.3; y += 0.005) points.push(x, y, 0);
  }
  return Float32Array.from(points);
}

const cubeCenter: Vec3 = [0.5, 0.1, 0.025];
const cubeSize: Vec3 = [0.05, 0.05, 0.05];
const graspCube = (): CompileGraspOptions => ({
  grasp_center_world_m: cubeCenter,
  closing_axis_world: [0, 1, 0],
  target: {
    upright_box: { center_world_m: cubeCenter, size_m: cubeSize, yaw_rad: 0 },
    points_world_m: cloudOf(cubeCenter, cubeSize, false),
  },
  scene: { table_z_m: 0, cloud_world_m: cloudOf(cubeCenter, cubeSize) },
  q_seed_rad: HOME_RAD,
});

describe("arm models and arguments", () => {
  it("refuses what makes no sense, with a code and the field's name", async () => {
    const nan = HOME_RAD.with(2, Number.NaN);
    expect(await codeOf(() => arm.forward(nan))).toMatch(/^bad_argument: q_rad: 2/);
    expect(await codeOf(() => arm.forward([0, 0, 0]))).toMatch(/^bad_argument/);
    expect(await codeOf(() => arm.inverse(Array(16).fill(0)))).toMatch(/^bad_argument.*rigid/);
    expect(await codeOf(() => arm.inverse(toolDown([0.5, 0, Number.POSITIVE_INFINITY])))).toMatch(/^bad_argument/);
    const misspelt = { q_start_rad: HOME_RAD, q_goal_rad: HOME_RAD, velocity_scal: 0.5 };
    expect(await codeOf(() => arm.planJoint(misspelt as never))).toMatch(
      /velocity_scal.*Did you mean "velocity_scale"/,
    );
    expect(await codeOf(() => arm.planJoint({ q_start_rad: HOME_RAD } as never))).toMatch(/q_goal_rad or X_world_goal/);
    expect(await codeOf(() => arm.planPath({ q_start_rad: HOME_RAD, poses_world: [] }))).toMatch(/^bad_argument/);
    const odd = { q_rad: HOME_RAD, scene: { cloud_world_m: new Float32Array(4) } };
    expect(await codeOf(() => arm.checkCollision(odd))).toMatch(/3 numbers a point/);
    expect(await codeOf(() => ArmKinematics.create(testArm({ dh: [] })))).toMatch(/^bad_argument: arm model: dh/);
    const panda = testArm().dh.map((row) => ({ ...row, alpha_rad: Math.PI / 2 }));
    expect(await codeOf(() => ArmKinematics.create(testArm({ dh: panda })))).toMatch(/^addon_failed.*UR type/);
  });
});

describe("plans", () => {
  it("plans joint motions off the event loop, several at once", async () => {
    const goals = [0.2, -0.4, 0.6, -0.8].map((turn) => HOME_RAD.with(0, Math.PI + turn));
    const plans = await Promise.all(
      goals.map((q_goal_rad) => arm.planJoint({ q_start_rad: HOME_RAD, q_goal_rad, dt_s: 0.008 })),
    );
    plans.forEach((plan, i) => {
      expectOk(plan);
      expect(plan.positions_rad.length).toBe(plan.count * 6);
      expect(plan.velocities_rad_s.length).toBe(plan.count * 6);
      expect(plan.duration_s).toBeCloseTo((plan.count - 1) * 0.008, 9);
      expect(Array.from(plan.positions_rad.subarray(0, 6))).toEqual(HOME_RAD);
      expect(Array.from(plan.positions_rad.subarray(-6))).toEqual(goals[i]);
      expect(plan.route).toBe("direct");
      expect(plan.clearance_m).toBeNull();
    });
  });

  it("keeps a line straight and passes the poses of a path in order", async () => {
    const q = arm.inverseNearest(toolDown([0.45, 0.1, 0.2]), HOME_RAD);
    expect(q).not.toBeNull();
    if (!q) return;
    const line = await arm.planLinear({ q_start_rad: q, X_world_goal: toolDown([0.45, -0.1, 0.2]), speed_m_s: 0.2 });
    expectOk(line);
    for (let i = 0; i < line.count; i++) {
      const X = arm.forward(Array.from(line.positions_rad.subarray(6 * i, 6 * i + 6)));
      expect(Math.abs(X[3]! - 0.45)).toBeLessThan(1e-4);
      expect(Math.abs(X[11]! - 0.2)).toBeLessThan(1e-4);
    }
    const corners: Vec3[] = [
      [0.5, 0.1, 0.2],
      [0.5, 0.0, 0.2],
      [0.45, 0.0, 0.25],
    ];
    const path = await arm.planPath({ q_start_rad: q, poses_world: corners.map(toolDown), blend_m: 0 });
    expectOk(path);
    expect(path.pose_times_s.length).toBe(3);
    path.pose_times_s.forEach((time, i) => {
      const k = Math.round(time / path.dt_s);
      const X = arm.forward(Array.from(path.positions_rad.subarray(6 * k, 6 * k + 6)));
      expect(Math.hypot(X[3]! - corners[i]![0], X[7]! - corners[i]![1], X[11]! - corners[i]![2])).toBeLessThan(1e-6);
    });
  });

  it("answers with codes where a motion cannot be", async () => {
    const far = await arm.planLinear({ q_start_rad: HOME_RAD, X_world_goal: toolDown([1.5, 0, 0.2]) });
    expect(far).toMatchObject({ status: "unreachable", pose_index: 0 });
    const limit = await arm.planJoint({ q_start_rad: HOME_RAD, q_goal_rad: HOME_RAD.with(2, 3.3) });
    expect(limit).toMatchObject({ status: "joint_limit" });
    const zone = { name: "rack", X_world_box: toolDown([0.5, 0, 0.2]), size_m: [0.2, 0.2, 0.2] as Vec3 };
    const into = await arm.planJoint({
      q_start_rad: HOME_RAD,
      X_world_goal: toolDown([0.5, 0, 0.2]),
      scene: { zones: [zone] },
    });
    expect(into).toMatchObject({ status: "collision", hit: { against: "zone rack" } });
  });
});

describe("collision", () => {
  it("names what is hit and measures the distance", async () => {
    const q = arm.inverseNearest(toolDown([0.5, 0, 0.012]), HOME_RAD)!;
    const free = await arm.checkCollision({ q_rad: q, scene: { table_z_m: -0.003 } });
    expect(free.hit).toBeNull();
    expect(free.clearance_m).toBeCloseTo(0.005, 6);
    const low = await arm.checkCollision({ q_rad: q, scene: { table_z_m: 0.001 } });
    expect(low.hit).toMatchObject({ against: "table" });
    expect(low.hit?.distance_m).toBeCloseTo(0.001, 6);
    const held = { X_tcp_object: toolDown([0, 0, 0]), size_m: [0.05, 0.05, 0.05] as Vec3 };
    const carrying = await arm.checkCollision({ q_rad: q, scene: { table_z_m: -0.003 }, tool: { held } });
    expect(carrying.hit).toMatchObject({ what: "held object", against: "table" });
  });
});

describe("compilers", () => {
  it("compiles a grasp and a place of what was grasped", async () => {
    const grasp = await arm.compileGrasp(graspCube());
    expect(grasp).toMatchObject({ status: "ok", checks: { reach: true, joint_limits: true, collision: true } });
    if (grasp.status !== "ok") return;
    expect(grasp.object_width_m).toBeCloseTo(0.05, 2);
    expect(grasp.opening_m).toBeGreaterThan(0.055);
    for (const pose of [grasp.approach, grasp.contact, grasp.lift]) {
      arm.forward(pose.q_rad).forEach((value, i) => {
        expect(value).toBeCloseTo(pose.X_world_tcp[i]!, 7);
      });
    }
    expect(grasp.lift.X_world_tcp[11]! - grasp.contact.X_world_tcp[11]!).toBeGreaterThan(0.05);
    const drop = grasp.contact.X_world_tcp[11]! - cubeCenter[2];
    const place = await arm.compilePlace({
      held: { X_tcp_object: toolDown([0, 0, drop]), size_m: cubeSize },
      target_point_world_m: [0.45, -0.15, 0.001],
      scene: { table_z_m: 0, cloud_world_m: cloudOf(cubeCenter, cubeSize) },
      q_seed_rad: grasp.lift.q_rad,
    });
    expect(place).toMatchObject({ status: "ok" });
    if (place.status !== "ok") return;
    expect(place.support_z_m).toBeCloseTo(0, 3);
    expect(place.release.X_world_tcp[11]! - drop - 0.025).toBeCloseTo(0.004, 3);
    expect(place.may_touch.size_m.every((s) => s > 0)).toBe(true);
  });

  it("answers with codes and no poses where a check fails", async () => {
    const wide = await arm.compileGrasp({
      ...graspCube(),
      target: { upright_box: { center_world_m: cubeCenter, size_m: [0.05, 0.2, 0.05], yaw_rad: 0 } },
    });
    expect(wide).toMatchObject({ status: "object_too_wide", hit: null });
    expect("contact" in wide).toBe(false);
    const parallel = await arm.compileGrasp({ ...graspCube(), closing_axis_world: [0, 0, 1] });
    expect(parallel.status).toBe("bad_axis");
    const unseen = await arm.compilePlace({
      held: { X_tcp_object: toolDown([0, 0, 0]), size_m: cubeSize },
      target_point_world_m: [0.45, -0.15, 0.3],
      scene: { table_z_m: 0 },
      q_seed_rad: HOME_RAD,
    });
    expect(unseen.status).toBe("no_support");
  });
});
