import { z } from "zod";
import { expectedOf, unwrap } from "../contract/schema-shape.js";
import type { KeyNotes } from "./parts.js";
import { RIG_NAME, type RigInput, rigSchema } from "./rig-schema.js";
import { commented, wrap } from "./template.js";

type Schema = z.core.$ZodType;
type Table = Readonly<Record<string, unknown>>;

/** What the template says of keys that have no default: a UR5e with a Pika, a camera on the tool and one beside it. */
const EXAMPLE = {
  arm: {
    host: "192.168.1.10",
    payload_kg: 0.9,
    payload_cog_m: [0, 0, 0.06],
    X_flange_tcp: { z: 0.17 },
    home_q_rad: [-1.5708, -1.5708, 1.5708, -1.5708, -1.5708, 0],
    look_q_rad: [-1.5708, -1.4, 1.1, -1.2708, -1.5708, 0],
  },
  gripper: { path: "/dev/serial/by-id/usb-Pika_gripper-if00" },
  workspace: { table_z_m: 0, min_xyz: [-0.4, 0.2, 0.005], max_xyz: [0.4, 0.75, 0.5] },
  views: { topdown: "wrist", scene: "scene", wrist: "wrist" },
  cameras: {
    wrist: { source: "realsense", serial: "130322270405", mount: "tcp", calibration: "calibration/wrist.json" },
    scene: { source: "realsense", serial: "819312070435", mount: "world", calibration: "calibration/scene.json" },
  },
} satisfies RigInput;

/** Examples of what may be left out and has no default. */
const OPTIONAL: Table = {
  "arm.realtime_cpu": 3,
  "arm.zones": [{ name: "shelf", min_xyz: [0.3, 0.6, 0], max_xyz: [0.5, 0.8, 0.5] }],
  "gripper.serial": "0001",
  "cameras.X_parent_camera": { x: 0.06, y: 0.01, z: -0.1, qx: 0, qy: 0, qz: 0, qw: 1 },
  "cameras.library": "/usr/lib/x86_64-linux-gnu/librealsense2.so",
  "cameras.exposure_us": 8000,
};

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value === "object" && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, part]) => `${key} = ${inline(part)}`)
      .join(", ")} }`;
  return JSON.stringify(value);
}

const notesOf = (schema: Schema): KeyNotes | undefined => z.globalRegistry.get(schema) as KeyNotes | undefined;

function describe(key: string, schema: Schema): string[] {
  const notes = notesOf(schema);
  if (!notes) throw new Error(`${key} has no description`);
  const { text, values } = expectedOf(schema);
  const expected = notes.path ? "a path" : values && values.length === 1 ? "" : text;
  const words =
    expected === "" ? notes.description : `${notes.description} ${expected[0]?.toUpperCase()}${expected.slice(1)}.`;
  return wrap(words).map(commented);
}

/** A table of TOML keys nested in the object: one whose own keys are described. */
const isTable = (schema: Schema): boolean => {
  const { def } = (unwrap(schema) as z.core.$ZodTypes)._zod;
  return def.type === "object" && Object.values(def.shape).every((part) => notesOf(part) !== undefined);
};

function tableLines(header: string, family: string, shape: Readonly<Record<string, Schema>>, example: Table): string[] {
  const defaults = (key: string, schema: Schema): unknown => {
    const parsed = z.core.safeParse(schema, undefined);
    return example[key] ?? (parsed.success ? parsed.data : undefined);
  };
  const lines: string[] = [`[${header}]`, ""];
  const tables: string[] = [];
  for (const [key, schema] of Object.entries(shape)) {
    const about = describe(`${header}.${key}`, schema);
    if (isTable(schema)) {
      const inner = (unwrap(schema) as z.core.$ZodObject)._zod.def.shape;
      tables.push(...about, ...tableLines(`${header}.${key}`, `${family}.${key}`, inner, {}));
      continue;
    }
    const sample = OPTIONAL[`${family}.${key}`];
    const value = defaults(key, schema);
    // An empty list says less than an example of what may stand in it.
    const left = sample !== undefined && (value === undefined || (Array.isArray(value) && value.length === 0));
    if (left) lines.push(...about, commented(`${key} = ${inline(sample)}`), "");
    else if (value !== undefined) lines.push(...about, `${key} = ${inline(value)}`, "");
    else throw new Error(`${header}.${key} has neither a default nor an example`);
  }
  return [...lines, ...tables];
}

/** Commented tables of one rig, to be filled in with a bench's own values; they parse back as they stand. */
export function renderRigTemplate(name: string): string {
  if (!RIG_NAME.test(name) || name === "emulated") throw new Error(`a rig cannot be named "${name}"`);
  const shape = rigSchema.shape;
  const options = (unwrap(shape.cameras) as z.core.$ZodRecord)._zod.def
    .valueType as unknown as z.core.$ZodDiscriminatedUnion;
  const realsense = options._zod.def.options[0] as unknown as z.core.$ZodObject;
  const section = (key: "arm" | "gripper" | "workspace" | "views"): string[] => [
    ...describe(key, shape[key])
      .slice(0, 1)
      .map((line) => line.replace(/ An object.*/, "")),
    ...tableLines(`rig.${name}.${key}`, key, (unwrap(shape[key]) as z.core.$ZodObject)._zod.def.shape, EXAMPLE[key]),
  ];
  const cameras = Object.entries(EXAMPLE.cameras).flatMap(([camera, example]) =>
    tableLines(`rig.${name}.cameras.${camera}`, "cameras", realsense._zod.def.shape, example),
  );
  const head = wrap(
    `The rig "${name}". Addresses, serial numbers, payload and poses are examples: replace them by this bench's own, then ask "skill2real doctor --rig ${name}.toml". Unknown keys are refused. Metres, radians, seconds, newtons; poses are x y z and a unit quaternion qx qy qz qw; relative paths are relative to this file.`,
  ).map(commented);
  return `${[...head, "", ...section("arm"), ...section("gripper"), ...section("workspace"), ...section("views"), ...cameras].join("\n").trimEnd()}\n`;
}
