import { setTimeout as sleep } from "node:timers/promises";
import { operatorRecover } from "../../../../backends/native/operator.js";
import { isSkill2RealError } from "../../../contract/errors.js";
import { CheckSkipped, ensure, type HilCheck, type HilGroup } from "../check.js";
import type { HilContext } from "../context.js";
import { type FaultTrial, tryFault } from "../fault-trial.js";
import { now_s } from "../plant-truth.js";

const trial = (name: string, reason: string, options: FaultTrial): HilCheck => ({
  name,
  reason,
  needs: options.during === "gripper" ? ["emulated", "gripper"] : ["emulated"],
  moves: true,
  breaks: true,
  run: (ctx) => tryFault(ctx, describe(options), options),
});

const describe = ({ order }: FaultTrial): string =>
  Object.entries(order)
    .map(([key, value]) => (key === "fault" ? String(value) : `${key} ${JSON.stringify(value)}`))
    .join(", ");

const LINK = ["link_lost", "link_reset", "controller_frozen"] as const;
const LINE = ["gripper_unplugged", "gripper_silent", "gripper_stale"] as const;

const controller: HilCheck[] = [
  trial("controller_freezes", "a controller that hangs keeps its connections and says nothing", {
    part: "controller",
    order: { fault: "freeze", seconds: 3 },
    codes: [...LINK, "program_stopped"],
    during: "arm",
  }),
  trial("controller_resets_connections", "a restart of the controller closes everything at once", {
    part: "controller",
    order: { fault: "rst" },
    codes: [...LINK, "program_stopped"],
    during: "arm",
    recovers: true,
  }),
  trial("controller_dies", "power is lost", {
    part: "controller",
    order: { fault: "kill" },
    codes: LINK,
    during: "arm",
  }),
  trial("packages_come_late", "50 ms of delay are beyond what a servo loop may bear", {
    part: "controller",
    order: { fault: "delay", ms: 50, seconds: 2 },
    codes: [...LINK, "program_stopped"],
    during: "arm",
    recovers: true,
  }),
  trial("packages_are_lost", "one package in five is a broken network", {
    part: "controller",
    order: { fault: "drop", share: 0.9, seconds: 2 },
    codes: [...LINK, "program_stopped"],
    during: "arm",
    recovers: true,
  }),
  trial("protective_stop", "the arm met something: nobody but a person may go on", {
    part: "controller",
    order: { fault: "protective_stop" },
    codes: ["protective_stop"],
    during: "arm",
    recovers: true,
  }),
  trial("emergency_stop", "the red button", {
    part: "controller",
    order: { fault: "emergency_stop" },
    codes: ["emergency_stop"],
    during: "arm",
  }),
  trial("local_mode", "somebody takes the pendant", {
    part: "controller",
    order: { fault: "local" },
    codes: ["local_mode", "program_stopped", "link_reset", "link_lost"],
    during: "arm",
  }),
  {
    name: "speed_slider_at_zero",
    reason: "an arm that stands by the slider must not look as if it moved",
    needs: ["emulated"],
    moves: true,
    breaks: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      const truth = ctx.truth();
      const target = conductor.q_rad.map((q, joint) => (joint === 5 ? q + 0.6 : q));
      const motion = ctx.trajectory(conductor, conductor.q_rad, target, 3);
      const { group } = await ctx.start(conductor, [motion]);
      await sleep(1000);
      const set_s = now_s();
      await ctx.bench.emulated.tell("controller", { set: { speed_slider: 0 } });
      const stood = truth.standstill(6);
      const event = await ctx.event(conductor, ({ fault }) => fault !== undefined, "fault", 8);
      await ctx.bench.emulated.tell("controller", { set: { speed_slider: 1 } });
      const stood_s = await stood;
      const reason =
        (await ctx.state(conductor.client)).groups.find((one) => one.group === group)?.motions[0]?.end_reason ??
        "nothing";
      ctx.fault = {
        fault: "controller: speed slider 0",
        notice_s: event.time_s - set_s,
        standstill_s: stood_s === null ? null : Math.max(0, stood_s - set_s),
        code: event.fault!.code,
        seen: `its motion ended with ${reason}`,
        false_report: reason === "END_COMPLETED" ? '"completed" while the arm stood' : "",
      };
      ensure(event.fault!.code === "speed_slider_zero", `the fault is "${event.fault!.code}"`);
      ensure(stood_s !== null && reason !== "END_COMPLETED", `the motion ended with ${reason}`);
    },
  },
  trial("noisy_force_sensor", "noise of 2 N is a bad day and no contact", {
    part: "controller",
    order: { fault: "noise", force_n: 2, torque_nm: 0.2 },
    codes: [],
    during: "arm",
  }),
  {
    name: "protective_stop_needs_a_person",
    reason: "a runtime that wipes a protective stop away hides what the arm met",
    needs: ["emulated"],
    moves: true,
    breaks: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      await ctx.bench.emulated.fault("controller", { fault: "protective_stop" });
      await ctx.event(conductor, ({ fault }) => fault?.code === "protective_stop", "protective stop");
      const { client } = conductor;
      await ctx.state(client);
      await ctx.refused(() => client.resume({ stop_epoch: client.stopEpoch }), "ERROR_RESUME_TOKEN", "ERROR_FAULT");
      await ctx.refused(
        () => client.resume({ stop_epoch: client.stopEpoch, token: "0123456789abcdef" }),
        "ERROR_RESUME_TOKEN",
        "ERROR_FAULT",
      );
      await sleep(300);
      const backend = await ctx.bench.backend();
      const { token } = await operatorRecover(backend.operator);
      await ctx.state(client);
      await client.resume({ stop_epoch: client.stopEpoch, token });
      const { stop_epoch } = await client.stop("hil");
      // A second stop is an ordinary one, but the old token may not open anything any more.
      await client.resume({ stop_epoch });
    },
  },
];

const gripper: HilCheck[] = [
  trial("gripper_firmware_freezes", "an old opening must not be told as the present one", {
    part: "gripper",
    order: { fault: "freeze", seconds: 3 },
    codes: LINE,
    during: "gripper",
  }),
  trial("gripper_is_unplugged", "the cable goes", {
    part: "gripper",
    order: { fault: "unplug", seconds: 2 },
    codes: LINE,
    during: "gripper",
  }),
  trial("gripper_comes_back_under_another_name", "after a replug the line has another number", {
    part: "gripper",
    order: { fault: "replug_other_name", seconds: 0.5 },
    codes: LINE,
    during: "gripper",
  }),
  trial("gripper_dies", "the adapter goes", {
    part: "gripper",
    order: { fault: "kill" },
    codes: LINE,
    during: "gripper",
  }),
  trial("gripper_telemetry_is_cut", "half a report is none, and no number of it counts", {
    part: "gripper",
    order: { fault: "half_frames", share: 0.3 },
    codes: [],
    during: "gripper",
  }),
  trial("gripper_line_is_noisy", "foreign bytes between reports are skipped", {
    part: "gripper",
    order: { fault: "noise", share: 0.2 },
    codes: [],
    during: "gripper",
  }),
  trial("gripper_reports_a_fault", "a hot or failed driver says so in its status", {
    part: "gripper",
    order: { fault: "status", bits: 0x20 },
    codes: ["gripper_device_fault", "gripper_disabled"],
    during: "gripper",
  }),
  trial("gripper_loses_power", "the motor is off and nothing says why", {
    part: "gripper",
    order: { fault: "power_off" },
    codes: ["gripper_disabled"],
    during: "gripper",
  }),
  trial("gripper_restarts", "its settings are gone, its zero perhaps too", {
    part: "gripper",
    order: { fault: "reset" },
    codes: ["gripper_disabled", "gripper_bad_zero", ...LINE],
    during: "gripper",
  }),
  {
    name: "stuck_fingers_are_no_grip",
    reason: "fingers that do not move at all hold nothing",
    needs: ["emulated", "gripper"],
    moves: true,
    breaks: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      const arm = conductor.arm.name;
      await ctx.play(conductor, [{ gripper_move: { arm, opening_m: 0.07 } }]);
      await ctx.bench.emulated.fault("gripper", { fault: "stuck" });
      const status = await ctx.play(conductor, [{ gripper_move: { arm, opening_m: 0.02 } }]);
      const reason = status.motions[0]?.end_reason ?? "";
      ctx.fault = {
        fault: "gripper: stuck",
        notice_s: null,
        standstill_s: null,
        code: reason,
        seen: `its move ended with ${reason}`,
        false_report: reason === "END_COMPLETED" ? '"completed"' : "",
      };
      ensure(reason !== "END_COMPLETED", "it is told as completed");
    },
  },
];

/** A camera's trouble: pictures fail with a code or are late, an arm's motion at the same time goes on to its end. */
const camera = (
  name: string,
  reason: string,
  order: Record<string, unknown>,
  expect: "refused" | "either",
): HilCheck => ({
  name,
  reason,
  needs: ["emulated", "cameras"],
  moves: true,
  breaks: true,
  run: async (ctx) => {
    const conductor = await ctx.conductor();
    const { client } = conductor;
    const [first] = Object.keys(ctx.rig.cameras);
    if (!first) throw new CheckSkipped("no camera");
    const motion = ctx.trajectory(
      conductor,
      conductor.q_rad,
      conductor.q_rad.map((q, joint) => (joint === 5 ? q + 0.5 : q)),
      4,
    );
    const { group, expected_end_time_s } = await ctx.start(conductor, [motion]);
    const broken_s = now_s();
    await ctx.bench.emulated.fault("bench", { ...order, camera: first } as never);
    const picture = await pictureOf(client, first, broken_s);
    const status = await ctx.finish(conductor, group, expected_end_time_s);
    const end = status.motions[0]?.end_reason ?? "";
    const words = Object.entries(order).map(([key, value]) =>
      key === "fault" ? String(value) : `${key} ${String(value)}`,
    );
    ctx.fault = {
      fault: `camera: ${words.join(", ")}`,
      notice_s: picture.after_s,
      standstill_s: null,
      code: picture.code,
      seen: `${picture.words}; the arm's motion ended with ${end}`,
      false_report: picture.falsehood,
    };
    ensure(picture.falsehood === "", picture.falsehood);
    ensure(end === "END_COMPLETED", `the arm's motion ended with ${end}: a camera's fault is its own`);
    if (expect === "refused") ensure(picture.code !== "", "the picture was given");
  },
});

async function pictureOf(client: Awaited<ReturnType<HilContext["observer"]>>, name: string, not_before_s: number) {
  const asked_s = now_s();
  try {
    const [frame] = await client.getFrames([`${name}_left`], { not_before_s, deadlineMs: 3000 });
    const falsehood =
      frame!.exposure_time_s < not_before_s ? "a picture from before the fault was given as a new one" : "";
    return { code: "", after_s: null, words: "the picture came", falsehood };
  } catch (error) {
    if (!isSkill2RealError(error)) throw error;
    return {
      code: String(error.details.device_code ?? error.code),
      after_s: now_s() - asked_s,
      words: `the picture failed: ${error.message.slice(0, 120)}`,
      falsehood: "",
    };
  }
}

const cameras: HilCheck[] = [
  camera("camera_is_unplugged", "a camera that is gone is told, and the arm goes on", { fault: "unplug" }, "refused"),
  camera(
    "camera_freezes",
    "a camera that hangs must not hang anybody else",
    { fault: "freeze", seconds: 20 },
    "refused",
  ),
  camera("camera_repeats_an_old_picture", "the same exposure again is no new picture", { fault: "stuck" }, "refused"),
  camera("camera_sends_half_pictures", "half a picture is none", { fault: "half_frames" }, "refused"),
  camera("camera_dies", "its process is gone", { fault: "kill" }, "refused"),
  camera(
    "another_camera_answers",
    "a camera of another serial number stands elsewhere",
    { fault: "replug_other_name" },
    "refused",
  ),
  camera("camera_is_late", "a picture that is late is still of its own time", { fault: "delay", ms: 800 }, "either"),
  camera("camera_is_noisy", "a bad cable is seen in the picture and nowhere else", { fault: "noise" }, "either"),
];

const bench: HilCheck[] = [
  trial("arm_does_not_follow", "an arm that stands while its setpoints move is held by something", {
    part: "bench",
    order: { fault: "freeze", seconds: 3 },
    codes: ["protective_stop", "gate_distance", "controller_frozen", "program_stopped"],
    during: "arm",
  }),
];

export const faults: HilGroup = {
  group: "faults",
  about: "each fault of each emulator during a motion: what is told, how soon, and whether it is true",
  checks: [...controller, ...bench, ...gripper, ...cameras],
};
