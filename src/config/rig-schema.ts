import { z } from "zod";
import { count, fromTo, name, notes, ordered, path, place, text, zone } from "./parts.js";

const { PI } = Math;
type Six = [number, number, number, number, number, number];
const six = (least: number, most: number) => {
  const one = fromTo(least, most);
  return z.tuple([one, one, one, one, one, one]);
};
const each = (value: number): Six => [value, value, value, value, value, value];

/** A rigid transform: position [m] and a unit quaternion. */
const pose = z
  .strictObject({
    x: fromTo(-10, 10).default(0),
    y: fromTo(-10, 10).default(0),
    z: fromTo(-10, 10).default(0),
    qx: fromTo(-1, 1).default(0),
    qy: fromTo(-1, 1).default(0),
    qz: fromTo(-1, 1).default(0),
    qw: fromTo(-1, 1).default(1),
  })
  .check(({ value, issues }) => {
    const norm = Math.hypot(value.qx, value.qy, value.qz, value.qw);
    if (Math.abs(norm - 1) <= 1e-3) return;
    const message = `has a quaternion of length ${norm.toFixed(4)}; it must be 1`;
    issues.push({ code: "custom", path: [], input: value, message });
  });
const q_rad = six(-2 * PI, 2 * PI);

const limits = z
  .strictObject({
    position_min_rad: six(-2 * PI, 2 * PI)
      .default([-2 * PI, -2 * PI, -PI, -2 * PI, -2 * PI, -2 * PI])
      .meta(notes("Least joint angles [rad]; keep them inside the controller's safety limits.")),
    position_max_rad: six(-2 * PI, 2 * PI)
      .default([2 * PI, 2 * PI, PI, 2 * PI, 2 * PI, 2 * PI])
      .meta(notes("Greatest joint angles [rad].")),
    velocity_rad_s: six(0.01, PI)
      .default(each(2.95))
      .meta(notes("Joint speeds that motions may use [rad/s]; the gate needs room below the arm's own limit of 3.14.")),
    acceleration_rad_s2: six(0.01, 40)
      .default(each(8))
      .meta(notes("Joint accelerations that motions may use [rad/s^2].")),
    jerk_rad_s3: six(0.1, 1000).default(each(80)).meta(notes("Joint jerks that motions may use [rad/s^3].")),
    distance_rad: fromTo(0.001, 1)
      .default(0.08)
      .meta(notes("Distance of a standing joint from its setpoint [rad] beyond which the arm stops.")),
  })
  .check(({ value, issues }) => {
    const joint = value.position_min_rad.findIndex((least, i) => !(least < (value.position_max_rad[i] ?? least)));
    if (joint < 0) return;
    const message = `must be above position_min_rad; joint ${joint} is not`;
    issues.push({ code: "custom", path: ["position_max_rad"], input: value.position_max_rad, message });
  });

const arm = z.strictObject({
  host: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,253}$/, "must be an IPv4 address or a host name")
    .meta(notes("Address of the controller: an IPv4 address, or a host name, which is looked up once.")),
  model: z.enum(["UR5e"]).default("UR5e").meta(notes("The arm; its nominal kinematics are those of this model.")),
  kinematics: z
    .enum(["controller", "nominal"])
    .default("controller")
    .meta(
      notes(
        "Whose kinematics poses use: those of the factory calibration that the controller keeps (nominal where it gives none, and results say so), or the model's.",
      ),
    ),
  realtime: z
    .enum(["enforce", "ignore"])
    .default("enforce")
    .meta(
      notes(
        "Real-time scheduling and locked memory: enforce refuses to move without them, ignore tries, says why it was refused, and goes on.",
      ),
    ),
  realtime_priority: count(1, 99).default(80).meta(notes("SCHED_FIFO priority of the 500 Hz thread.")),
  realtime_cpu: count(0, 1023).optional().meta(notes("Processor that this thread is pinned to. Left out: any.")),
  stale_cycles: count(3, 25)
    .default(3)
    .meta(
      notes(
        "Cycles of 2 ms without a new state of the controller that stop the arm; the loop itself may miss twice as many, or 10. More than 3 only where the network or a virtual machine's processors are known to pause.",
      ),
    ),
  registers: z
    .enum(["upper", "lower"])
    .default("upper")
    .meta(
      notes(
        "Half of the controller's registers that is used; field buses such as EtherNet/IP claim the lower one. From PolyScope 5.23 on ur_rtde 1.6.5 serves the lower half alone.",
      ),
    ),
  watchdog_hz: fromTo(2, 100)
    .default(10)
    .meta(notes("Least rate of setpoints [Hz]: below it the controller itself stops the arm.")),
  servo_lookahead_s: fromTo(0.03, 0.2)
    .default(0.05)
    .meta(notes("Lookahead of servoj [s]: longer is smoother and later.")),
  servo_gain: fromTo(100, 2000).default(500).meta(notes("Gain of servoj: higher follows closer and vibrates sooner.")),
  payload_kg: fromTo(0, 5).meta(
    notes("Mass on the flange, gripper and cameras included [kg]; read back from the controller."),
  ),
  payload_cog_m: place.meta(notes("Its centre of mass in the flange frame [m].")),
  X_flange_tcp: pose.meta(
    notes("The TCP in the flange frame: between the fingertips, +z the approach, +y the closing direction."),
  ),
  X_world_base: pose
    .prefault({})
    .meta(notes("The arm's base in world, whose z points up. It also says how the arm is mounted.")),
  gravity_base_m_s2: place
    .default([0, 0, -9.82])
    .meta(notes("Acceleration of gravity in base axes [m/s^2]; the arm standing upright: 0, 0, -9.82.")),
  limits: limits.prefault({}).meta(notes("Limits of joint motions; the gate on each setpoint follows from them.")),
  speed_cap: fromTo(0.01, 1)
    .default(0.25)
    .meta(notes("Fraction of the speeds that commands on a real rig start with, until a person raises it.")),
  home_q_rad: q_rad.meta(notes("Joints that goto_home moves to [rad], where no look pose is given.")),
  look_q_rad: q_rad
    .optional()
    .meta(
      notes(
        "Joints from which the wrist camera gives the top-down view [rad]; then goto_home moves here. Needed where topdown is a camera on the tool.",
      ),
    ),
  contact_force_n: fromTo(1, 150).default(30).meta(notes("Force that ends a motion which names no guard [N].")),
  contact_torque_nm: fromTo(0.1, 30).default(5).meta(notes("Torque that ends a motion which names no guard [Nm].")),
  flight_records: text
    .default("runs/flight")
    .meta(path("Folder for the last 10 s of cycles that are written with each fault.")),
  zones: z
    .array(zone)
    .max(64)
    .default([])
    .meta(notes("Forbidden zones in world for elbow, wrist, gripper and load, checked each cycle.")),
});

const gripper = z.strictObject({
  path: text.meta(notes("Serial device; a path under /dev/serial/by-id survives replugging.")),
  serial: text.optional().meta(notes("USB serial number that the device must have. Left out: any.")),
  dialect: z
    .enum(["auto", "sdk", "ros"])
    .default("auto")
    .meta(notes("Command codes of the vendor's SDK or of its ROS driver; auto asks the firmware.")),
  current_limit_a: fromTo(0.05, 2).default(1).meta(notes("Motor current limit, set before the first closing [A].")),
  on_disconnect: z
    .enum(["hold", "release"])
    .default("hold")
    .meta(notes("When this process ends: keep the grip, or switch the motor off.")),
  max_opening_m: fromTo(0.01, 0.095).default(0.095).meta(notes("Usable opening between the fingers [m].")),
  max_force_n: fromTo(1, 100)
    .default(40)
    .meta(notes("Closing force at the greatest current [N]; an estimate, as the device measures none.")),
  max_speed_m_s: fromTo(0.01, 1).default(0.25).meta(notes("Greatest speed of the opening [m/s].")),
  finger_length_m: fromTo(0.005, 0.3).default(0.065).meta(notes("Length of a finger along the approach [m].")),
  finger_width_m: fromTo(0.002, 0.1).default(0.022).meta(notes("Width of a finger across the closing direction [m].")),
  finger_thickness_m: fromTo(0.002, 0.1)
    .default(0.012)
    .meta(notes("Thickness of a finger along the closing direction [m].")),
});

const mounted = {
  mount: z.enum(["tcp", "world"]).meta(notes("What the camera rides on: the tool, or the bench.")),
  X_parent_camera: pose
    .optional()
    .meta(notes("The left image's optical frame (x right, y down, z forward) in the TCP frame or in world.")),
  calibration: text
    .optional()
    .meta(
      path(
        "File of a calibration with that pose. It or X_parent_camera is needed; the file counts where both are given.",
      ),
    ),
  width: count(64, 1920).default(640).meta(notes("Image width [px].")),
  height: count(64, 1080).default(480).meta(notes("Image height [px].")),
  depth: z
    .enum(["sensor", "stereo"])
    .default("sensor")
    .meta(notes("Depth of the sensor, or computed by this runtime from the infrared pair.")),
};
const library = text.optional().meta(path("librealsense2.so to open. Left out: the one that set-up fetched."));

const camera = z.discriminatedUnion("source", [
  z.strictObject({
    source: z.literal("realsense").meta(notes("A RealSense camera.")),
    serial: z
      .string()
      .regex(/^[0-9]{6,20}$/)
      .meta(notes("Serial number of the camera, as printed on it.")),
    library,
    fps: count(5, 90).default(30).meta(notes("Frames per second.")),
    exposure_us: count(1, 200_000).optional().meta(notes("Fixed exposure [us]. Left out: automatic.")),
    ...mounted,
  }),
  z.strictObject({
    source: z.literal("recording").meta(notes("A recording (.bag) played in a loop.")),
    file: text.meta(path("The recording.")),
    library,
    ...mounted,
  }),
  z.strictObject({
    source: z.literal("plant").meta(notes("The emulated bench.")),
    serial: text.optional().meta(notes("Serial number that the bench gives it.")),
    address: text.optional().meta(notes("Where the bench serves frames; the launcher of an emulated rig fills it in.")),
    ...mounted,
  }),
]);

const workspace = z
  .strictObject({
    table_z_m: fromTo(-5, 5).meta(notes("Height of the table top in world [m].")),
    min_xyz: place.meta(notes("Lowest corner of the box that the TCP may be sent to, world [m].")),
    max_xyz: place.meta(notes("Highest corner of that box, world [m].")),
  })
  .check(ordered((value) => value, "max_xyz"));

const views = z.strictObject({
  topdown: name.optional().meta(notes("Camera of the top-down view; one on the tool shows it from look_q_rad alone.")),
  scene: name.optional().meta(notes("Camera of the scene view.")),
  wrist: name.optional().meta(notes("Camera of the wrist view.")),
});

export const RIG_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** One rig: the arm, its gripper and cameras, with everything that is particular to this bench. */
export const rigSchema = z
  .strictObject({
    arm: arm.meta(notes("The arm and its controller.")),
    gripper: gripper.optional().meta(notes("The Pika gripper.")),
    workspace: workspace.meta(notes("Where the work surface is.")),
    views: views.prefault({}).meta(notes("Which camera gives which view.")),
    cameras: z.record(z.string().regex(RIG_NAME), camera).default({}).meta(notes("The cameras by name.")),
  })
  .check(({ value, issues }) => {
    const refuse = (where: string[], input: unknown, message: string): void => {
      issues.push({ code: "custom", path: where, input, message });
    };
    for (const [role, chosen] of Object.entries(value.views)) {
      const found = chosen === undefined ? undefined : value.cameras[chosen];
      if (chosen !== undefined && !found)
        refuse(["views", role], chosen, `names no camera; cameras: ${Object.keys(value.cameras).join(", ") || "none"}`);
      if (role === "topdown" && found?.mount === "tcp" && !value.arm.look_q_rad)
        refuse(
          ["arm", "look_q_rad"],
          undefined,
          `is needed, because the top-down camera "${chosen}" rides on the tool`,
        );
      if (role === "wrist" && found && found.mount !== "tcp")
        refuse(["views", role], chosen, 'must be a camera on the tool (mount = "tcp")');
    }
    for (const [key, one] of Object.entries(value.cameras))
      if (!one.X_parent_camera && !one.calibration)
        refuse(["cameras", key, "X_parent_camera"], undefined, "or calibration is needed");
  });

export type Rig = z.output<typeof rigSchema>;
export type RigArm = Rig["arm"];
export type RigGripper = NonNullable<Rig["gripper"]>;
export type RigCamera = Rig["cameras"][string];
export type RigPose = z.output<typeof pose>;
/** A rig as it is written: what has a default may be left out. */
export type RigInput = z.input<typeof rigSchema>;
export { pose as rigPoseSchema };
