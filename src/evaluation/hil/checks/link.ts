import { createServer, type Server } from "node:net";
import { operatorStatus } from "../../../../backends/native/operator.js";
import { NativeArm } from "../../../../backends/native/server/adapters/arm.js";
import { rigTransform } from "../../../config/index.js";
import { isSkill2RealError } from "../../../contract/errors.js";
import { ArmDriver } from "../../../runtime/native/arm.js";
import { multiply } from "../../../runtime/transforms.js";
import { sleepMs } from "../../conformance/context.js";
import { distance } from "../../conformance/motion.js";
import { ensure, ensureNear, type HilCheck, type HilGroup } from "../check.js";
import { dhTransform } from "../kinematics.js";
import { now_s } from "../plant-truth.js";
import { askDashboard, firstBytes } from "../rtde-observer.js";

const RUNNING_MODE = 7;
const STATE_BYTES = 1220;
const KINEMATICS_INFO = 5;
const ROBOT_STATE = 16;

/** Walks the packages of the primary interface: uint32 size, uint8 type, and in a robot state the same again. */
function holdsKinematics(bytes: Buffer): boolean {
  for (let at = 0; at + 5 <= bytes.length; ) {
    const size = bytes.readUInt32BE(at);
    if (size < 5 || at + size > bytes.length) return false;
    if (bytes[at + 4] === ROBOT_STATE)
      for (let sub = at + 5; sub + 5 <= at + size; ) {
        const length = bytes.readUInt32BE(sub);
        if (bytes[sub + 4] === KINEMATICS_INFO) return true;
        if (length < 5) return false;
        sub += length;
      }
    at += size;
  }
  return false;
}

const controller: HilCheck[] = [
  {
    name: "dashboard_is_in_remote_control",
    reason: "in local control nobody but the pendant may start a program",
    run: async ({ rig }) => {
      const answer = await askDashboard(rig.arm.host, "is in remote control");
      ensure(/true/i.test(answer), `it answers "${answer}": switch the pendant to remote control`);
    },
  },
  {
    name: "dashboard_says_running",
    reason: "an arm without power or with its brakes on cannot move",
    run: async ({ rig }) => {
      const answer = await askDashboard(rig.arm.host, "robotmode");
      ensure(/RUNNING/.test(answer), `it answers "${answer}": power the arm on and release its brakes`);
    },
  },
  {
    name: "dashboard_says_safety_normal",
    reason: "a protective or emergency stop is for a person to look at",
    run: async ({ rig }) => {
      const answer = await askDashboard(rig.arm.host, "safetystatus");
      ensure(/NORMAL/.test(answer), `it answers "${answer}"`);
    },
  },
  {
    name: "data_exchange_negotiates_version_2",
    reason: "only version 2 takes a rate and an output recipe",
    run: async (ctx) => {
      const rtde = await ctx.rtde(["timestamp"]);
      ensure(
        rtde.controller.length === 4 && rtde.controller[0]! >= 3,
        `the controller's version is ${rtde.controller.join(".")}`,
      );
      ctx.measure("controller version", rtde.controller[0]! + rtde.controller[1]! / 100, "");
    },
  },
  {
    name: "data_exchange_gives_the_arm",
    reason: "what this suite compares the driver with is read by a second client",
    run: async (ctx) => {
      const rtde = await ctx.rtde(["timestamp", "actual_q", "actual_qd", "robot_mode", "safety_status_bits"]);
      const { values } = await rtde.fresh();
      ensure(values.robot_mode![0] === RUNNING_MODE, `robot_mode is ${values.robot_mode}, running is ${RUNNING_MODE}`);
      ensure(values.actual_q!.every(Number.isFinite), "joint positions are no numbers");
    },
  },
  {
    name: "data_exchange_keeps_its_rate",
    reason: "a network that loses packages shows here before it shows in a motion",
    run: async (ctx) => {
      const rtde = await ctx.rtde(["timestamp"], 125);
      await rtde.fresh();
      await sleepMs(2000);
      const stamps = rtde.samples.map(({ values }) => values.timestamp![0]!);
      const steps = stamps.slice(1).map((stamp, i) => stamp - stamps[i]!);
      ensure(
        steps.every((step) => step > 0),
        "the controller's clock steps back or stands",
      );
      const lost = steps.filter((step) => step > 0.012).length / steps.length;
      ctx.timing("packages lost", lost, "of all", 0.02);
    },
  },
  {
    name: "primary_interface_gives_the_calibration",
    reason: "without the factory calibration poses are off by millimetres",
    run: async ({ rig }) => {
      if (rig.arm.kinematics === "nominal") return;
      await firstBytes(rig.arm.host, 30001, holdsKinematics);
    },
  },
  {
    name: "state_port_sends_states",
    reason: "the port that scripts are sent to is the one that streams the state",
    run: async ({ rig }) => {
      const bytes = await firstBytes(rig.arm.host, 30003, (all) => all.length >= 4);
      const size = bytes.readUInt32BE(0);
      ensure(size >= 1000, `its packages are ${size} bytes; an e-Series controller sends ${STATE_BYTES} or so`);
    },
  },
];

const driver: HilCheck[] = [
  {
    name: "driver_opens_and_nothing_moves",
    reason: "starting a program must not jerk the arm",
    run: async (ctx) => {
      await ctx.bench.closeBackend();
      await ctx.bench.closeDrivers();
      const rtde = await ctx.rtde(["actual_q"]);
      const before = (await rtde.fresh()).values.actual_q!;
      const begun_ms = performance.now();
      await ctx.bench.arm();
      ctx.timing("opening the arm", (performance.now() - begun_ms) / 1e3, "s", 10);
      await sleepMs(500);
      const after = (await rtde.fresh()).values.actual_q!;
      const moved = Math.max(
        ...rtde.samples.map(({ values }) => distance(values.actual_q!, before)),
        distance(after, before),
      );
      ctx.measure("moved at most", 1e3 * moved, "mrad", 2);
      ensure(moved < 0.002, `the arm moved by ${(1e3 * moved).toFixed(2)} mrad`);
    },
  },
  {
    name: "first_setpoint_is_where_the_arm_is",
    reason: "a setpoint elsewhere is a jump at the next command",
    run: async (ctx) => {
      const arm = await ctx.bench.arm();
      const { setpoint_rad, q_rad } = arm.addon.state();
      const off = distance(Array.from(setpoint_rad), Array.from(q_rad));
      ctx.measure("setpoint to position", 1e3 * off, "mrad", 5);
      ensure(off < 0.005, `it is ${(1e3 * off).toFixed(1)} mrad away`);
    },
  },
  {
    name: "driver_agrees_with_a_second_reader",
    reason: "a driver that shows something else than the controller hides what the arm does",
    run: async (ctx) => {
      const arm = await ctx.bench.arm();
      const rtde = await ctx.rtde(["actual_q"]);
      const other = (await rtde.fresh()).values.actual_q!;
      const off = distance(Array.from(arm.state().q_rad), other);
      ensure(off < 0.002, `joints differ by ${(1e3 * off).toFixed(2)} mrad at rest`);
    },
  },
  {
    name: "payload_is_on_the_controller",
    reason: "a wrong payload makes the controller see contacts that are none",
    run: async (ctx) => {
      await ctx.bench.arm();
      const { values } = await (await ctx.rtde(["payload", "payload_cog"])).fresh();
      ensureNear(values.payload![0]!, ctx.rig.arm.payload_kg, 0.01, "the controller's payload [kg]");
      for (const [axis, mine] of ctx.rig.arm.payload_cog_m.entries())
        ensureNear(values.payload_cog![axis]!, mine, 0.002, `axis ${axis} of its centre of mass [m]`);
    },
  },
  {
    name: "tcp_is_on_the_controller",
    reason: "with another TCP the controller's poses and forces are of another point",
    run: async (ctx) => {
      await ctx.bench.arm();
      const { values } = await (await ctx.rtde(["tcp_offset"])).fresh();
      const X = rigTransform(ctx.rig.arm.X_flange_tcp);
      for (const [axis, at] of [3, 7, 11].entries())
        ensureNear(values.tcp_offset![axis]!, X[at]!, 0.0005, `axis ${axis} of the TCP [m]`);
    },
  },
  {
    name: "kinematics_agree_with_the_controller",
    reason: "planned poses and those that the controller reaches must be the same",
    run: async (ctx) => {
      const arm = await ctx.bench.arm();
      const { kinematics, dh } = arm.addon.info;
      const state = arm.state();
      const X_base_tcp = multiply(dhTransform(dh, Array.from(state.q_rad)), rigTransform(ctx.rig.arm.X_flange_tcp));
      const X_world_tcp = multiply(rigTransform(ctx.rig.arm.X_world_base), X_base_tcp);
      const off_m = Math.hypot(...[3, 7, 11].map((at) => X_world_tcp[at]! - Number(state.X_world_tcp[at])));
      // Nominal rows leave an arm's own deviations, which are millimetres.
      const limit_m = kinematics === "calibrated" ? 0.0003 : 0.01;
      ctx.measure(`TCP, ${kinematics}`, 1e3 * off_m, "mm", 1e3 * limit_m);
      ensure(off_m <= limit_m, `the TCP is ${(1e3 * off_m).toFixed(2)} mm from where the controller has it`);
    },
  },
  {
    name: "kinematics_say_where_they_come_from",
    reason: "a result on nominal kinematics must not look like one on calibrated ones",
    run: async (ctx) => {
      const { kinematics, kinematics_reason, checksum } = (await ctx.bench.arm()).addon.info;
      if (kinematics === "nominal") ensure(kinematics_reason !== "", "they are nominal, and nothing says why");
      else ensure(checksum !== "", "they are calibrated, and have no checksum");
    },
  },
  {
    name: "mounting_is_told",
    reason: "an arm that hangs and is taken to stand falls or fights its own weight",
    run: async (ctx) => {
      const { mounting } = (await ctx.bench.arm()).addon.info;
      ensure(mounting === "confirmed" || mounting === "unverified", `it says "${mounting}"`);
    },
  },
  {
    name: "realtime_is_told",
    reason: "without real-time scheduling the arm stutters under load, and nobody knows why",
    run: async (ctx) => {
      const { realtime } = (await ctx.bench.arm()).addon.info;
      ensure(realtime.granted || realtime.reason !== "", "it was not granted, and nothing says why");
      if (ctx.rig.arm.realtime === "enforce")
        ensure(realtime.granted, `it is enforced and was not granted: ${realtime.reason}`);
      ctx.measure("priority", realtime.priority, realtime.policy);
    },
  },
  {
    name: "state_is_fresh",
    reason: "whoever looks at an old state decides about another moment",
    run: async (ctx) => {
      const arm = await ctx.bench.arm();
      const ages: number[] = [];
      for (let i = 0; i < 50; i += 1) {
        ages.push(now_s() - arm.state().time_s);
        await sleepMs(7);
      }
      ages.sort((a, b) => a - b);
      ctx.timing("median age", 1e3 * ages[25]!, "ms", 4);
      ensure(ages[25]! < 0.2, `half of all states are older than ${(1e3 * ages[25]!).toFixed(0)} ms`);
    },
  },
  {
    name: "state_of_the_past_is_kept",
    reason: "a picture needs the arm as it was at its exposure",
    run: async (ctx) => {
      const arm = await ctx.bench.arm();
      await sleepMs(1500);
      for (const ago_s of [0.05, 0.5, 1]) {
        const at_s = now_s() - ago_s;
        const past = arm.stateAt(at_s);
        ensure(past, `nothing is kept of ${ago_s} s ago`);
        ensure(
          Math.abs(past.time_s - at_s) < 0.05,
          `asked for ${ago_s} s ago, it is of ${(now_s() - past.time_s).toFixed(3)} s ago`,
        );
      }
      ensure(arm.stateAt(now_s() - 3600) === null, "an hour ago is answered too");
    },
  },
  {
    name: "second_driver_is_refused",
    reason: "two programs on one arm would each undo what the other does",
    needs: ["emulated"],
    breaks: true,
    run: async (ctx) => {
      const arm = await ctx.bench.arm();
      let refused = "";
      try {
        const options = { rig: ctx.rig, stop_address: "", speed_cap: ctx.bench.speed, parent_pid: process.ppid };
        await (await NativeArm.open(options)).close();
      } catch (error) {
        refused = isSkill2RealError(error) ? error.code : String(error);
      }
      ensure(refused !== "", "it was let in");
      ensure(/^arm_/.test(refused), `it failed with ${refused}, which is no code of the arm`);
      ensure(arm.state().fault_code === "", `the first driver has the fault ${arm.state().fault_code} by that`);
    },
  },
  {
    name: "driver_opens_again_after_closing",
    reason: "a program that ends must leave the arm ready for the next one",
    run: async (ctx) => {
      await ctx.bench.arm();
      await ctx.bench.closeDriver("arm");
      const again = await ctx.bench.arm();
      ensure(again.state().fault_code === "", `it opens with the fault ${again.state().fault_code}`);
    },
  },
];

const listen = (server: Server, host: string): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, host, () => resolve((server.address() as { port: number }).port));
  });

/** Opens the driver at something that is no controller; its code, and how long it took. */
async function openingAt(port: number): Promise<{ code: string; took_s: number }> {
  const begun_ms = performance.now();
  try {
    const driver = await ArmDriver.open({
      host: "127.0.0.1",
      ports: { dashboard: port, rtde: port, script: port, primary: port },
      realtime: "ignore",
      payload_kg: 1,
      payload_cog_m: [0, 0, 0],
      X_flange_tcp: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
    });
    await driver.close();
    return { code: "", took_s: 0 };
  } catch (error) {
    return {
      code: isSkill2RealError(error) ? error.code : String(error),
      took_s: (performance.now() - begun_ms) / 1e3,
    };
  }
}

const peers: HilCheck[] = [
  {
    name: "silent_peer_is_given_up",
    reason: "a controller that hangs accepts connections and says nothing, for ever",
    run: async (ctx) => {
      const server = createServer(() => {});
      const port = await listen(server, "127.0.0.1");
      ctx.onCleanUp(() => server.close());
      const { code, took_s } = await openingAt(port);
      ctx.timing("given up after", took_s, "s", 5);
      ensure(code === "arm_silent", `it ends with "${code}", not arm_silent`);
    },
  },
  {
    name: "closed_port_is_told_at_once",
    reason: "a wrong address must not look like a slow robot",
    run: async (ctx) => {
      const server = createServer(() => {});
      const port = await listen(server, "127.0.0.1");
      await new Promise((resolve) => server.close(resolve));
      const { code, took_s } = await openingAt(port);
      ctx.timing("told after", took_s, "s", 2);
      ensure(code === "arm_unreachable", `it ends with "${code}", not arm_unreachable`);
    },
  },
];

const backend: HilCheck[] = [
  {
    name: "backend_starts_and_says_what_it_found",
    reason: "a person must see which arm, kinematics and scheduling a program runs on",
    run: async (ctx) => {
      await ctx.bench.closeDrivers();
      await ctx.bench.closeBackend();
      const begun_ms = performance.now();
      const { notes } = await ctx.bench.backend();
      ctx.timing("start", (performance.now() - begun_ms) / 1e3, "s", 20);
      for (const what of [/controller/, /kinematics/, /real-time/])
        ensure(
          notes.some((note) => what.test(note)),
          `its notes say nothing of ${what.source}: ${notes.join("; ")}`,
        );
    },
  },
  {
    name: "capabilities_are_those_of_the_rig",
    reason: "plans are made from what a backend says of itself",
    run: async (ctx) => {
      const { capabilities } = await ctx.observer();
      const arm = capabilities.arms[0];
      ensure(arm && capabilities.clock === "WALL", "it tells no arm, or another clock");
      for (const [joint, limit] of arm.limits.entries())
        ensureNear(
          limit.velocity_rad_s,
          ctx.rig.arm.limits.velocity_rad_s[joint]! * ctx.bench.speed,
          1e-6,
          `speed of joint ${joint}`,
        );
      ensure(capabilities.grippers.length === (ctx.rig.gripper ? 1 : 0), "its gripper is not the rig's");
      for (const name of Object.keys(ctx.rig.cameras))
        ensure(
          capabilities.cameras.some((camera) => camera.name === `${name}_left`),
          `camera "${name}" is missing`,
        );
    },
  },
  {
    name: "operator_needs_the_key",
    reason: "a program that could recover the arm by itself would wipe away what a person must see",
    run: async (ctx) => {
      const { operator } = await ctx.bench.backend();
      ensure((await operatorStatus(operator)).fault_code === "", "the arm has a fault");
      let refused = false;
      await operatorStatus({ ...operator, key: "0".repeat(operator.key.length) }).catch(() => {
        refused = true;
      });
      ensure(refused, "another key was answered");
    },
  },
];

export const link: HilGroup = {
  group: "link",
  about: "controller, driver and backend: what is connected is what the rig's file says",
  checks: [...controller, ...driver, ...peers, ...backend],
};
