import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_CONFIG } from "../../../config/index.js";
import { loadOperations } from "../../../runtime/required-skills.js";
import { Session } from "../../../runtime/session.js";
import { sleepMs } from "../../conformance/context.js";
import { distance } from "../../conformance/motion.js";
import { episodeSettings } from "../../episode-settings.js";
import { EpisodeWorker } from "../../episode-worker.js";
import { EmulatedRigWorld } from "../../rig-world.js";
import { CheckSkipped, ensure, ensureNear, type HilCheck, type HilGroup } from "../check.js";
import type { HilContext } from "../context.js";

type Pose = { x: number; y: number; z: number; qx: number; qy: number; qz: number; qw: number };
type Reply = { status: string; message?: string };

/** A session as programs have it, with the arm where the bench stood. */
async function open(ctx: HilContext): Promise<{ session: Session; q: () => Promise<number[]> }> {
  const conductor = await ctx.conductor();
  const folder = mkdtempSync(join(tmpdir(), "s2r-hil-"));
  ctx.onCleanUp(() => rmSync(folder, { recursive: true, force: true }));
  const session = Session.open({ device: conductor.client, operations: await loadOperations(), folder });
  ctx.onCleanUp(() => session.close());
  return { session, q: () => ctx.q(conductor) };
}

async function call<T extends Reply>(session: Session, name: string, request: unknown = {}): Promise<T> {
  const outcome = await session.call(name, request);
  ensure("value" in outcome, () => `${name} threw ${"error" in outcome ? outcome.error.message : ""}`);
  return outcome.value as T;
}

async function ok<T extends Reply>(session: Session, name: string, request: unknown = {}): Promise<T> {
  const reply = await call<T>(session, name, request);
  ensure(reply.status === "ok", `${name}: ${reply.status}: ${reply.message ?? ""}`);
  return reply;
}

const poseOf = async (session: Session): Promise<Pose> =>
  (await ok<Reply & { tcp_pose: Pose }>(session, "get_robot_state")).tcp_pose;

const session: HilCheck[] = [
  {
    name: "program_reads_arm_and_gripper",
    reason: "every program begins with where it is",
    run: async (ctx) => {
      const { session } = await open(ctx);
      const pose = await poseOf(session);
      ensure(Object.values(pose).every(Number.isFinite), "the pose is no pose");
      if (ctx.rig.gripper) {
        const jaw = await ok<Reply & { opening_m: number }>(session, "get_gripper_state");
        ensure(jaw.opening_m >= 0 && jaw.opening_m < 0.1, `the opening is ${jaw.opening_m}`);
      }
    },
  },
  {
    name: "program_goes_home",
    reason: "home is where the views are",
    moves: true,
    run: async (ctx) => {
      const { session, q } = await open(ctx);
      await ok(session, "goto_home");
      const home = session.device.capabilities.arms[0]!.home_q_rad;
      const off = distance(await q(), home);
      ctx.measure("off", 1e3 * off, "mrad", 3);
      ensure(off < 0.005, `it is ${(1e3 * off).toFixed(1)} mrad from home`);
    },
  },
  {
    name: "program_moves_straight_down_and_up",
    reason: "a grasp is a straight line to the millimetre",
    moves: true,
    run: async (ctx) => {
      const { session } = await open(ctx);
      await ok(session, "goto_home");
      const from = await poseOf(session);
      const down = { ...from, z: from.z - 0.06 };
      await ok(session, "goto_pose", { pose: down });
      const there = await poseOf(session);
      const off_m = Math.hypot(there.x - down.x, there.y - down.y, there.z - down.z);
      ctx.measure("off", 1e3 * off_m, "mm", 2);
      ensure(off_m < 0.003, `it is ${(1e3 * off_m).toFixed(1)} mm off`);
      await ok(session, "goto_pose", { pose: from });
      await ok(session, "goto_home");
    },
  },
  {
    name: "program_is_refused_what_is_under_the_table",
    reason: "the table is the first thing that every arm meets",
    moves: true,
    run: async (ctx) => {
      const { session, q } = await open(ctx);
      const before = await q();
      const from = await poseOf(session);
      const reply = await call<Reply>(session, "goto_pose", {
        pose: { ...from, z: ctx.rig.workspace.table_z_m - 0.1 },
      });
      ensure(reply.status !== "ok", "it was played");
      ensure(distance(await q(), before) < 0.003, "the arm moved");
    },
  },
  {
    name: "program_opens_and_closes_the_gripper",
    reason: "the hand is half of the robot",
    needs: ["gripper"],
    moves: true,
    run: async (ctx) => {
      const { session } = await open(ctx);
      for (const opening_m of [0.08, 0.03]) {
        await ok(session, "gripper_goto", { opening_m });
        const jaw = await ok<Reply & { opening_m: number }>(session, "get_gripper_state");
        ensureNear(jaw.opening_m, opening_m, 0.003, "the opening [m]");
      }
    },
  },
  {
    name: "program_sees_the_table_from_above",
    reason: "what a program grasps it has seen",
    needs: ["topdown"],
    moves: true,
    run: async (ctx) => {
      const { session } = await open(ctx);
      await ok(session, "goto_home");
      const view = await ok<Reply & { observation_ref: string }>(session, "get_topdown_stereo_view");
      const depth = await ok<Reply & { depth_ref: string; model: string; valid_fraction: number }>(
        session,
        "get_foundation_stereo_depth",
        {
          observation_ref: view.observation_ref,
        },
      );
      ctx.measure("known depth", depth.valid_fraction, "of all", 1);
      ensure(depth.model !== "", "nothing says how the depth was made");
      const { width, height } = session.device.capabilities.cameras[0]!;
      const point = await ok<Reply & { point?: [number, number, number] }>(session, "get_point_from_pixel", {
        depth_ref: depth.depth_ref,
        u: width >> 1,
        v: height >> 1,
      });
      const z = point.point?.[2] ?? Number.NaN;
      ctx.measure("height of what is in the middle", 1e3 * (z - ctx.rig.workspace.table_z_m), "mm");
      ensure(
        z > ctx.rig.workspace.table_z_m - 0.03 && z < ctx.rig.workspace.table_z_m + 0.3,
        `what is in the middle is at ${z} m`,
      );
    },
  },
  {
    name: "stop_ends_a_programs_motion",
    reason: "a person's stop goes through to the program as a stop, not as a success",
    moves: true,
    run: async (ctx) => {
      const { session } = await open(ctx);
      await ok(session, "goto_home");
      const from = await poseOf(session);
      const going = session.call("goto_pose", { pose: { ...from, z: from.z - 0.1 }, speed_m_s: 0.03 });
      await sleepMs(1500);
      await session.device.stop("hil");
      const outcome = await going;
      const status = "value" in outcome ? (outcome.value as Reply).status : "error";
      ensure(status !== "ok", "it was told as done");
    },
  },
];

const episodes: HilCheck[] = [
  {
    name: "task_r1_is_played_and_judged",
    reason: "the very programs of the simulator, through every real protocol",
    needs: ["emulated"],
    moves: true,
    breaks: true,
    run: async (ctx) => {
      if (!ctx.rig.gripper) throw new CheckSkipped("the rig has no gripper");
      // The episode starts a rig of its own, whose hidden errors are those of its seed.
      await ctx.bench.close();
      const folder = mkdtempSync(join(tmpdir(), "s2r-hil-"));
      const worker = new EpisodeWorker({ runsFolder: folder, world: () => new EmulatedRigWorld() });
      ctx.onCleanUp(() => rmSync(folder, { recursive: true, force: true }));
      ctx.onCleanUp(() => worker.close());
      const result = await worker.play({
        task: "r1",
        seed: 2001,
        proposer: { kind: "library", library: "starter" },
        settings: episodeSettings(DEFAULT_CONFIG),
      });
      ctx.measure("took", result.wall_s, "s");
      ensure(result.infrastructure === null, `the infrastructure failed: ${result.infrastructure}`);
      ensure(result.success === true, `it failed: ${result.failure_kind ?? result.outcome}`);
    },
  },
];

export const endToEnd: HilGroup = {
  group: "end-to-end",
  about: "programs, as agents write them, on this rig",
  checks: [...session, ...episodes],
};
