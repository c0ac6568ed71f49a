import { z } from "zod";
import { DEFAULT_MOTION_SETTINGS, DEFAULT_PERCEPTION_SETTINGS } from "../contract/settings.js";
import { mcpSchema } from "./mcp-schema.js";
import { count, fromTo, name, notes, openAddress, ordered, path, place, text, zone } from "./parts.js";
import { RIG_NAME, rigSchema } from "./rig-schema.js";

export type { KeyNotes } from "./parts.js";

const backend = z
  .strictObject({
    kind: z
      .enum(["sim", "native", "replay"])
      .default("sim")
      .meta(notes("What moves: the simulator, a real robot, or a recorded episode.")),
    realtime: fromTo(0, 100)
      .default(0)
      .meta(notes("Simulator only: seconds of simulated time per second of wall time. 0: as fast as it can.")),
    rig: text
      .default("emulated")
      .meta(
        notes(
          'Which rig kind "native" uses: "emulated", the name of a [rig.NAME] table of this file, or a file with one (FILE.toml, or FILE.toml#NAME).',
        ),
      ),
    recording: text.optional().meta(path('The recorded episode (an .mcap file) that kind "replay" plays.')),
  })
  .check(({ value, issues }) => {
    if (value.kind !== "replay" || value.recording !== undefined) return;
    issues.push({ code: "custom", path: ["recording"], input: undefined, message: 'is needed with kind "replay"' });
  });

const motion = z
  .strictObject({
    speed_m_s: fromTo(0.005, 2)
      .default(DEFAULT_MOTION_SETTINGS.speed_m_s)
      .meta(notes("Highest speed of the TCP in straight motions [m/s].")),
    acceleration_m_s2: fromTo(0.01, 20)
      .default(DEFAULT_MOTION_SETTINGS.acceleration_m_s2)
      .meta(notes("Highest acceleration of the TCP [m/s^2].")),
    jerk_m_s3: fromTo(0.1, 1000)
      .default(DEFAULT_MOTION_SETTINGS.jerk_m_s3)
      .meta(notes("Highest jerk of the TCP [m/s^3].")),
    rotation_speed_rad_s: fromTo(0.01, 6)
      .default(DEFAULT_MOTION_SETTINGS.rotation_speed_rad_s)
      .meta(notes("Highest turning speed of the TCP [rad/s].")),
    rotation_acceleration_rad_s2: fromTo(0.01, 60)
      .default(DEFAULT_MOTION_SETTINGS.rotation_acceleration_rad_s2)
      .meta(notes("Highest turning acceleration of the TCP [rad/s^2].")),
    joint_velocity_scale: fromTo(0.01, 1)
      .default(DEFAULT_MOTION_SETTINGS.joint_velocity_scale)
      .meta(notes("Fraction of the arm's own joint speed limits that motions use.")),
    joint_acceleration_scale: fromTo(0.01, 1)
      .default(DEFAULT_MOTION_SETTINGS.joint_acceleration_scale)
      .meta(notes("Fraction of the arm's own joint acceleration limits that motions use.")),
    workspace_min_xyz: place
      .optional()
      .meta(
        notes(
          "Lowest corner of the box that the TCP may be sent to, world [m]. Left out: the backend's box. It can only narrow that box.",
        ),
      ),
    workspace_max_xyz: place
      .optional()
      .meta(notes("Highest corner of that box, world [m]. Left out: the backend's box.")),
    zones: z
      .array(zone)
      .max(64)
      .default([])
      .meta(notes("Forbidden zones: boxes in world that arm, gripper and load may not enter.")),
  })
  .check(
    ordered((value) => ({ min_xyz: value.workspace_min_xyz, max_xyz: value.workspace_max_xyz }), "workspace_max_xyz"),
  );

const perception = z
  .strictObject({
    near_m: fromTo(0.05, 10)
      .default(DEFAULT_PERCEPTION_SETTINGS.near_m)
      .meta(notes("Nearest depth that stereo searches [m].")),
    far_m: fromTo(0.1, 100)
      .default(DEFAULT_PERCEPTION_SETTINGS.far_m)
      .meta(notes("Farthest depth that stereo searches [m]; above near_m.")),
    wrist_near_m: fromTo(0.03, 10)
      .default(DEFAULT_PERCEPTION_SETTINGS.wrist_near_m)
      .meta(notes("Nearest depth that stereo searches in the wrist's view [m].")),
    threads: count(1, 16)
      .default(DEFAULT_PERCEPTION_SETTINGS.threads)
      .meta(notes("Worker threads of one stereo match.")),
  })
  .check(({ value, issues }) => {
    if (value.far_m > value.near_m) return;
    const message = `must be above near_m, which is ${value.near_m}`;
    issues.push({ code: "custom", path: ["far_m"], input: value.far_m, message });
  });

const program = z.strictObject({
  calls: count(1, 1_000_000).default(1000).meta(notes("Calls that one program may make, sleeps included.")),
  wall_s: fromTo(0.1, 86_400)
    .default(1800)
    .meta(notes("Wall time of one program, waiting for operations included [s].")),
  device_time_s: fromTo(0.1, 86_400).default(600).meta(notes("Device time of one program [s].")),
  cpu_ms: fromTo(10, 60_000)
    .default(2000)
    .meta(notes("Processor time that a program may take between two awaits [ms].")),
  output_bytes: count(1, 10_000_000).default(65_536).meta(notes("Characters that one program may print.")),
  memory_mb: count(17, 1024).default(64).meta(notes("Memory of the sandbox [MB]; 16 are taken by its own start.")),
  path_points: count(1, 2000).default(2000).meta(notes("Poses of one follow_path.")),
  path_length_m: fromTo(0.01, 1000).default(20).meta(notes("Way of the TCP that one program may ask for [m].")),
});

const episode = z.strictObject({
  max_stages: count(1, 1000).default(12).meta(notes("Decision stages, each one program.")),
  max_device_time_s: fromTo(1, 86_400).default(600).meta(notes("Device time of one episode [s].")),
  max_wall_s: fromTo(1, 86_400).default(1800).meta(notes("Wall time of one episode [s].")),
});

const proposer = z
  .strictObject({
    kind: z
      .enum(["library", "script", "llm"])
      .default("library")
      .meta(
        notes("Who writes the programs: the entries of a memory library, a file, or the language model of [model]."),
      ),
    library: text
      .optional()
      .meta(
        path(
          'Folder of the memory library. Left out: for kind "library" the starter library that ships, for kind "llm" none.',
        ),
      ),
    script: text.optional().meta(path('The program file (.ts) for kind "script".')),
  })
  .check(({ value, issues }) => {
    if (value.kind !== "script" || value.script !== undefined) return;
    issues.push({ code: "custom", path: ["script"], input: undefined, message: 'is needed with kind "script"' });
  });

/** A budget of money that nothing is counted against would never end. */
function pricedBudget({
  value,
  issues,
}: z.core.ParsePayload<{
  price_in?: number | undefined;
  price_out?: number | undefined;
  budget_money?: number | undefined;
}>): void {
  if (value.budget_money === undefined || value.price_in !== undefined || value.price_out !== undefined) return;
  const message = "needs price_in or price_out, by which money is counted";
  issues.push({ code: "custom", path: ["budget_money"], input: value.budget_money, message });
}

const model = z
  .strictObject({
    base_url: text.optional().meta(notes("Address of an OpenAI-compatible endpoint, with its version path (…/v1).")),
    name: text.optional().meta(notes("Name of the model, as the endpoint knows it.")),
    api_key_env: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
      .default("OPENAI_API_KEY")
      .meta(notes("Environment variable that holds the key. The key itself is never in a file.")),
    interaction: z
      .enum(["program", "program-once", "direct", "direct-notes"])
      .default("program")
      .meta(
        notes(
          "What a reply is: a program per stage, one program without feedback, one operation, or one operation with notes.",
        ),
      ),
    coordinates: z
      .enum(["pixel", "norm1000"])
      .default("pixel")
      .meta(
        notes("Unit of the coordinates that the model reads from images: pixels, or thousandths of width and height."),
      ),
    pack: text.default("ur5e_pika").meta(notes("Prompt pack: the name of one that ships, or a folder.")),
    temperature: fromTo(0, 2).default(0).meta(notes("Sampling temperature.")),
    max_tokens: count(16, 200_000).default(4096).meta(notes("Tokens of one reply.")),
    context_tokens: count(256, 10_000_000).default(128_000).meta(notes("Tokens of prompt and reply together.")),
    tools: z
      .enum(["auto", "on", "off"])
      .default("auto")
      .meta(notes("Whether the model is offered tools; auto: until the endpoint refuses them.")),
    images: z.boolean().default(true).meta(notes("Whether the model is shown images; without, captions alone.")),
    stream: z
      .boolean()
      .default(true)
      .meta(notes("Whether replies are streamed, so that a silent one is noticed sooner.")),
    timeout_s: fromTo(0.1, 3600)
      .default(180)
      .meta(notes("Time for a whole reply [s]; one that is not streamed has at most 300.")),
    idle_s: fromTo(0.1, 290).default(60).meta(notes("Time between two pieces of a reply [s].")),
    retries: count(0, 10).default(2).meta(notes("Further tries after a trouble that may pass.")),
    max_wait_s: fromTo(0, 3600).default(60).meta(notes("Longest wait that an endpoint may ask for [s].")),
    repairs: count(0, 10).default(1).meta(notes("How often a reply that is no usable program goes back to the model.")),
    price_in: fromTo(0, 1e6).optional().meta(notes("Price of a million tokens that the model reads.")),
    price_out: fromTo(0, 1e6).optional().meta(notes("Price of a million tokens that the model writes.")),
    budget_calls: count(1, 100_000)
      .default(200)
      .meta(notes("Replies of one episode, those of the services' vision model among them.")),
    budget_tokens: count(1, 1_000_000_000)
      .optional()
      .meta(notes("Tokens of one episode, those of the services' vision model among them. Left out: no limit.")),
    budget_money: fromTo(0.000_001, 1e9)
      .optional()
      .meta(notes("Money of one episode, the services' vision model included, in the currency of the prices.")),
    budget_wait_s: fromTo(0.1, 86_400)
      .optional()
      .meta(notes("Wall time of one episode, from the first question to the model on [s].")),
  })
  .check(openAddress)
  .check(pricedBudget);

const runs = z.strictObject({
  folder: text.default("runs").meta(path("Where the folder of each run and their index are written.")),
});

const skills = z.strictObject({
  paths: z.array(text).max(64).default([]).meta(path("Folders that hold further skills, one folder each.")),
  enable: z.array(name).max(256).default(["pointing"]).meta(notes("Optional skills that are on.")),
  disable: z
    .array(name)
    .max(256)
    .default([])
    .meta(notes("Optional skills that are off, also where another one asks for them.")),
});

const visionRole = (roles: Partial<Record<"pointer" | "segmenter" | "verifier", string>>): string | undefined =>
  (["pointer", "segmenter", "verifier"] as const).find((role) => roles[role] === "vlm");

const services = z
  .strictObject({
    pointer: z
      .enum(["builtin", "vlm", "none"])
      .default("builtin")
      .meta(
        notes("Who finds things by words: the pointer of colours and shapes that ships, the vision model, or nobody."),
      ),
    segmenter: z.enum(["vlm", "none"]).default("none").meta(notes("Who finds all things of some words.")),
    verifier: z.enum(["vlm", "none"]).default("none").meta(notes("Who says what differs between two images.")),
    base_url: text
      .optional()
      .meta(notes("Address of the vision model's OpenAI-compatible endpoint, with its version path (…/v1).")),
    name: text.optional().meta(notes("Name of the vision model, as the endpoint knows it.")),
    api_key_env: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
      .default("OPENAI_API_KEY")
      .meta(notes("Environment variable that holds its key. The key itself is never in a file.")),
    coordinates: z
      .enum(["pixel", "norm1000"])
      .default("pixel")
      .meta(notes("Unit of the coordinates that it answers: pixels, or thousandths of width and height.")),
    max_tokens: count(16, 200_000).default(1024).meta(notes("Tokens of one of its replies.")),
    timeout_s: fromTo(0.1, 280).default(60).meta(notes("Time for one of its replies [s].")),
    price_in: fromTo(0, 1e6).optional().meta(notes("Price of a million tokens that it reads.")),
    price_out: fromTo(0, 1e6).optional().meta(notes("Price of a million tokens that it writes.")),
    budget_calls: count(1, 100_000).default(1000).meta(notes("Its replies in one episode.")),
    budget_tokens: count(1, 1_000_000_000).optional().meta(notes("Its tokens in one episode. Left out: no limit.")),
    budget_money: fromTo(0.000_001, 1e9)
      .optional()
      .meta(notes("Its money in one episode, in the currency of the prices.")),
    probe_s: fromTo(0.1, 60).default(5).meta(notes("Time in which its endpoint must say that it is there [s].")),
  })
  .check(openAddress)
  .check(pricedBudget)
  .check(({ value, issues }) => {
    const role = visionRole(value);
    const lacking = (["base_url", "name"] as const).find((key) => value[key] === undefined);
    if (role === undefined || lacking === undefined) return;
    issues.push({ code: "custom", path: [lacking], input: undefined, message: `is needed with ${role} = "vlm"` });
  });

/** The vision model's replies draw on the model's budget of money too, which they would not touch without a price. */
function pricedServices({
  value: { model, services },
  issues,
}: z.core.ParsePayload<Pick<z.output<typeof sections>, "model" | "services">>): void {
  const role = visionRole(services);
  if (model.budget_money === undefined || role === undefined) return;
  if (services.price_in !== undefined || services.price_out !== undefined) return;
  const message = `needs services.price_in or services.price_out with services.${role} = "vlm", whose replies it counts too`;
  issues.push({ code: "custom", path: ["model", "budget_money"], input: model.budget_money, message });
}

const sections = z.strictObject({
  backend: backend.prefault({}).meta(notes("The robot, real or not.")),
  motion: motion.prefault({}).meta(notes("Limits that every motion keeps.")),
  perception: perception.prefault({}).meta(notes("How depth is computed.")),
  program: program.prefault({}).meta(notes("What one program may use.")),
  episode: episode.prefault({}).meta(notes("When an episode ends without the Proposer ending it.")),
  proposer: proposer.prefault({}).meta(notes("Who decides.")),
  model: model.prefault({}).meta(notes('The language model of proposer kind "llm".')),
  runs: runs.prefault({}).meta(notes("What is kept.")),
  skills: skills.prefault({}).meta(notes("Functions beside the 18 operations.")),
  services: services.prefault({}).meta(notes("What functions of skills may ask beside the robot.")),
  mcp: mcpSchema.prefault({}).meta(notes("Tools of other programs as functions of robot programs.")),
});

/** The configuration file: every key with its meaning, limits and default. Unknown keys are refused. */
export const configSchema = sections.check(pricedServices);

/** What the file may hold on top: its rigs. */
export const configFileSchema = configSchema.safeExtend({
  rig: z
    .record(z.string().regex(RIG_NAME), rigSchema)
    .optional()
    .meta(notes("Rigs by name: a real arm with its gripper and cameras.")),
});

export type Config = z.output<typeof configSchema>;
