import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { describeIssues } from "../contract/describe-issues.js";
import { Skill2RealError } from "../contract/errors.js";
import { suggest } from "../contract/suggest.js";
import { EMULATED_RIG } from "./emulated-rig.js";
import { parseToml } from "./layers.js";
import type { KeyNotes } from "./parts.js";
import { RIG_NAME, type Rig, type RigPose, rigPoseSchema, rigSchema } from "./rig-schema.js";

export const EMULATED = "emulated";

/** A rig, its paths absolute and its cameras' poses read from their calibration files. */
export type NamedRig = {
  name: string;
  /** True for the built-in rig, whose devices a launcher starts. */
  emulated: boolean;
  /** The file that describes it; absent for the built-in one. */
  file?: string;
  rig: Rig;
};

const calibrationSchema = z.strictObject({
  format: z.literal("skill2real-camera"),
  version: z.literal(1),
  mount: z.enum(["tcp", "world"]),
  X_parent_camera: rigPoseSchema,
  serial: z.string().max(64).optional(),
  taken_at: z.string().max(64).optional(),
  error_px: z.number().min(0).optional(),
});

/** Row-major 4x4 matrix of a pose, its quaternion brought to length 1. */
export function rigTransform({ x, y, z: height, ...q }: RigPose): number[] {
  const norm = Math.hypot(q.qx, q.qy, q.qz, q.qw);
  const [a, b, c, w] = [q.qx / norm, q.qy / norm, q.qz / norm, q.qw / norm];
  return [
    ...[1 - 2 * (b * b + c * c), 2 * (a * b - c * w), 2 * (a * c + b * w), x],
    ...[2 * (a * b + c * w), 1 - 2 * (a * a + c * c), 2 * (b * c - a * w), y],
    ...[2 * (a * c - b * w), 2 * (b * c + a * w), 1 - 2 * (a * a + b * b), height],
    ...[0, 0, 0, 1],
  ];
}

/** Checks one rig; throws `bad_config` naming key, value, limit and the nearest known key. */
export function checkRig(value: unknown, label: string): Rig {
  const parsed = rigSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Skill2RealError(
    "bad_config",
    `${label}: ${describeIssues(rigSchema, value, parsed.error.issues, "the rig")}`,
  );
}

/** Makes every path of a rig absolute: those that its schema marks. */
function absolutePaths(schema: z.core.$ZodType, value: unknown, folder: string): unknown {
  const notes = z.globalRegistry.get(schema) as KeyNotes | undefined;
  if (notes?.path && typeof value === "string") return resolve(folder, value);
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (value === undefined || value === null) return value;
  if ("innerType" in def) return absolutePaths(def.innerType, value, folder);
  const entries = (): [string, unknown][] => Object.entries(value);
  if (def.type === "object")
    return Object.fromEntries(
      entries().map(([key, part]) => [key, absolutePaths(def.shape[key] as z.core.$ZodType, part, folder)]),
    );
  if (def.type === "record")
    return Object.fromEntries(entries().map(([key, part]) => [key, absolutePaths(def.valueType, part, folder)]));
  if (def.type === "union") {
    const option = def.options.find((one) => one._zod.propValues?.source?.has((value as { source: string }).source));
    return option ? absolutePaths(option, value, folder) : value;
  }
  return value;
}

/** The `[rig.NAME]` tables of a file, checked, with absolute paths. */
export function checkRigs(tables: unknown, label: string, folder: string): Map<string, Rig> {
  if (tables === undefined) return new Map();
  if (typeof tables !== "object" || tables === null || Array.isArray(tables))
    throw new Skill2RealError("bad_config", `${label}: rig must be tables by name: [rig.NAME.arm] and so on`);
  return new Map(
    Object.entries(tables).map(([name, value]) => {
      if (name === EMULATED)
        throw new Skill2RealError("bad_config", `${label}: the rig "${EMULATED}" is built in; choose another name`);
      if (!RIG_NAME.test(name))
        throw new Skill2RealError(
          "bad_config",
          `${label}: rig ${JSON.stringify(name)} must be named with 1 to 64 letters, digits, - and _`,
        );
      return [name, absolutePaths(rigSchema, checkRig(value, `${label}, rig.${name}`), folder) as Rig];
    }),
  );
}

/** The built-in rig; its launcher replaces host, gripper path and camera addresses. */
export const emulatedRig = (): NamedRig => ({ name: EMULATED, emulated: true, rig: checkRig(EMULATED_RIG, EMULATED) });

function withCalibrations(named: NamedRig): NamedRig {
  const cameras = Object.entries(named.rig.cameras).map(([name, camera]) => {
    if (camera.calibration === undefined) return [name, camera] as const;
    const where = `calibration of camera ${name}, ${camera.calibration}`;
    let value: unknown;
    try {
      value = JSON.parse(readFileSync(camera.calibration, "utf8"));
    } catch (cause) {
      throw new Skill2RealError("not_found", `${where}: cannot be read (${(cause as Error).message})`, { cause });
    }
    const parsed = calibrationSchema.safeParse(value);
    if (!parsed.success) {
      const words = describeIssues(calibrationSchema, value, parsed.error.issues, "the file");
      throw new Skill2RealError("bad_config", `${where}: ${words}`);
    }
    const { mount, serial, X_parent_camera } = parsed.data;
    if (mount !== camera.mount)
      throw new Skill2RealError(
        "bad_config",
        `${where}: is of a camera on "${mount}", but the rig mounts it on "${camera.mount}": calibrate again, or correct mount`,
      );
    if (serial !== undefined && camera.source === "realsense" && camera.serial !== serial)
      throw new Skill2RealError(
        "bad_config",
        `${where}: is of the camera with serial ${serial}, but the rig has ${camera.serial}: calibrate again`,
      );
    return [name, { ...camera, X_parent_camera }] as const;
  });
  return { ...named, rig: { ...named.rig, cameras: Object.fromEntries(cameras) } };
}

export type FindRigOptions = {
  /** "emulated", a name among `rigs`, or a file: FILE.toml, or FILE.toml#NAME where it holds several. */
  rig: string;
  /** Rigs of the configuration file that is in force, and that file. */
  rigs?: ReadonlyMap<string, Rig>;
  file?: string;
  cwd?: string;
  /** False leaves calibration files unread; default true. */
  calibrated?: boolean;
};

const isFile = (words: string): boolean => /\.toml(#|$)/.test(words) || words.includes("/");

/** The rig that a name or a file stands for; throws `not_found` or `bad_config` with what there is. */
export function findRig(options: FindRigOptions): NamedRig {
  const named = lookUp(options);
  return options.calibrated === false ? named : withCalibrations(named);
}

function lookUp({ rig, rigs = new Map(), file, cwd = process.cwd() }: FindRigOptions): NamedRig {
  if (rig === EMULATED) return emulatedRig();
  if (!isFile(rig)) {
    const found = rigs.get(rig);
    if (found) return { name: rig, emulated: false, rig: found, ...(file ? { file } : {}) };
    const known = [EMULATED, ...rigs.keys()];
    throw new Skill2RealError(
      "not_found",
      `there is no rig "${rig}".${suggest(rig, known)} Rigs: ${known.join(", ")}; or give a file, FILE.toml`,
    );
  }
  const [, words = "", wanted] = /^(.*?)(?:#([^#]*))?$/.exec(rig) ?? [];
  const path = resolve(cwd, words);
  if (!existsSync(path)) throw new Skill2RealError("not_found", `there is no rig file ${path}`);
  const tables = checkRigs(parseToml(readFileSync(path, "utf8"), path).rig, path, dirname(path));
  const names = [...tables.keys()];
  if (names.length === 0)
    throw new Skill2RealError("bad_config", `${path} holds no rig: it needs tables [rig.NAME.arm] …`);
  if (wanted === undefined && names.length > 1)
    throw new Skill2RealError("bad_config", `${path} holds the rigs ${names.join(", ")}: say which with ${words}#NAME`);
  const name = wanted ?? names[0] ?? "";
  const found = tables.get(name);
  if (!found)
    throw new Skill2RealError(
      "not_found",
      `${path} holds no rig "${name}".${suggest(name, names)} Rigs: ${names.join(", ")}`,
    );
  return { name, emulated: false, file: path, rig: found };
}
