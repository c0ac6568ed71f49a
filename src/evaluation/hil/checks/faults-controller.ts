import { setTimeout as sleep } from "node:timers/promises";
import { operatorRecover } from "../../../../backends/native/operator.js";
import { ensure, type HilCheck } from "../check.js";
import { standstill } from "../fault-trial.js";
import { now_s } from "../plant-truth.js";
import { TruthLog } from "../truth-log.js";
import { faultCheck } from "./fault-check.js";
import { underWay } from "./stop.js";

const LINK = ["link_lost", "link_reset", "controller_frozen"] as const;
const CUT_OFF = [...LINK, "program_stopped"] as const;
const controller = { part: "controller", during: "arm" } as const;

export const controllerFaults: HilCheck[] = [
  faultCheck("controller_freezes", "a controller that hangs keeps its connections and says nothing", {
    ...controller,
    order: { fault: "freeze", seconds: 3 },
    codes: CUT_OFF,
    recovers: true,
  }),
  faultCheck("controller_resets_connections", "a restart of the controller closes everything at once", {
    ...controller,
    order: { fault: "rst" },
    codes: CUT_OFF,
    recovers: true,
  }),
  faultCheck("controller_dies", "power is lost", { ...controller, order: { fault: "kill" }, codes: LINK }),
  faultCheck("controllers_cable_is_pulled", "the arm goes on by itself until its watchdog ends the program", {
    ...controller,
    order: { fault: "unplug", seconds: 2 },
    codes: CUT_OFF,
    recovers: true,
  }),
  faultCheck("packages_come_late", "50 ms of delay are beyond what a servo loop may bear", {
    ...controller,
    order: { fault: "delay", ms: 50, seconds: 2 },
    codes: CUT_OFF,
    recovers: true,
  }),
  faultCheck("packages_come_a_little_late", "6 ms of delay are a switch in between, and no fault", {
    ...controller,
    order: { fault: "delay", ms: 6 },
    codes: [],
  }),
  faultCheck("packages_are_lost", "nine packages in ten lost is no connection", {
    ...controller,
    order: { fault: "drop", share: 0.9, seconds: 2 },
    codes: CUT_OFF,
    recovers: true,
  }),
  faultCheck("a_package_is_lost_now_and_then", "one package in fifty may be lost", {
    ...controller,
    order: { fault: "drop", share: 0.02 },
    codes: [],
  }),
  faultCheck("packages_are_cut", "half a package puts the stream out of step: no number after it counts", {
    ...controller,
    order: { fault: "half_frames", share: 0.2, seconds: 1 },
    codes: CUT_OFF,
    recovers: true,
  }),
  faultCheck("protective_stop", "the arm met something: nobody but a person may go on", {
    ...controller,
    order: { fault: "protective_stop" },
    codes: ["protective_stop"],
    recovers: true,
  }),
  faultCheck("emergency_stop", "the red button", {
    ...controller,
    order: { fault: "emergency_stop" },
    codes: ["emergency_stop"],
  }),
  faultCheck("local_mode", "somebody takes the pendant", {
    ...controller,
    order: { fault: "local" },
    codes: ["local_mode", "program_stopped", "link_reset", "link_lost"],
  }),
  faultCheck("speed_slider_at_zero", "an arm that stands by the slider must not look as if it moved", {
    ...controller,
    order: { set: { speed_slider: 0 } },
    codes: ["speed_slider_zero"],
  }),
  faultCheck("noisy_force_sensor", "noise of 2 N is a bad day and no contact", {
    ...controller,
    order: { fault: "noise", force_n: 2, torque_nm: 0.2 },
    codes: [],
  }),
  {
    name: "watchdog_is_armed_again_after_a_recovery",
    reason:
      "a program that was sent anew has no watchdog until it is armed: an arm without one moves on when its driver dies",
    needs: ["emulated"],
    moves: true,
    breaks: true,
    run: async (ctx) => {
      const conductor = await ctx.conductor();
      await ctx.bench.emulated.fault("controller", { fault: "rst" });
      await ctx.event(conductor, ({ fault }) => fault !== undefined, "fault");
      await ctx.recover(conductor.client);
      conductor.q_rad = await ctx.q(conductor);
      await underWay(ctx, conductor, 0.9);
      const truth = new TruthLog(ctx.truth());
      ctx.onCleanUp(() => truth.close());
      ensure(truth.moving, "the arm is not under way");
      const { pid } = await ctx.bench.backend();
      const killed_s = now_s();
      process.kill(pid, "SIGKILL");
      const stood_s = await standstill(truth, killed_s);
      ensure(stood_s !== null, "the arm goes on without its driver");
      ctx.timing("stood after", stood_s - killed_s, "s", 1);
    },
  },
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
