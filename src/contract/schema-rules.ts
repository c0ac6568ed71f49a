import { z } from "zod";
import type { JsonValue } from "./generated/robot-api.js";

/** How far the norm of a quaternion may be from 1; a program's own arithmetic rounds. */
const NORM_TOLERANCE = 0.01;

type Check<T> = z.core.CheckFn<T>;

/** `field` must be greater than `other`, both of one object. */
export function above<K extends string>(field: K, other: K): Check<Record<K, number>> {
  return ({ value, issues }) => {
    if (value[field] > value[other]) return;
    const message = `must be above ${other}, which is ${value[other]}`;
    issues.push({ code: "custom", path: [field], input: value[field], message });
  };
}

/** `field` may be given only together with `other`. */
export function needs<K extends string>(field: K, other: K): Check<{ [key in K]?: unknown }> {
  return ({ value, issues }) => {
    if (value[field] === undefined || value[other] !== undefined) return;
    issues.push({ code: "custom", path: [field], input: value[field], message: `needs ${other} beside it` });
  };
}

/** A vector that gives a direction must not vanish. */
export const nonzero: Check<readonly number[]> = ({ value, issues }) => {
  if (Math.hypot(...value) > 1e-6) return;
  issues.push({ code: "custom", input: value, message: "must have a length: it gives a direction" });
};

type Quaternion = { qx: number; qy: number; qz: number; qw: number };

const norm = ({ qx, qy, qz, qw }: Quaternion): number => Math.hypot(qx, qy, qz, qw);

/** qx qy qz qw must have norm 1, within the rounding of a program's arithmetic. */
export const unitQuaternion: Check<Quaternion> = ({ value, issues }) => {
  const length = norm(value);
  if (Math.abs(length - 1) <= NORM_TOLERANCE) return;
  const message = `must hold a unit quaternion; qx qy qz qw have norm ${Number(length.toFixed(4))}: divide them by it`;
  issues.push({ code: "custom", input: value, message });
};

/** The same pose with a quaternion of norm 1. */
export function normalised<T extends Quaternion>(pose: T): T {
  const length = norm(pose);
  if (length === 0) return pose;
  return { ...pose, qx: pose.qx / length, qy: pose.qy / length, qz: pose.qz / length, qw: pose.qw / length };
}

/** The values inside an array or plain object; undefined for anything else. */
function inside(value: object): unknown[] | undefined {
  if (Array.isArray(value)) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? Object.values(value) : undefined;
}

/** Whether a value is what JSON can hold. Walks without recursion, so that depth cannot exhaust the stack. */
export function isJsonValue(root: unknown): root is JsonValue {
  const open: { value: unknown; leaving?: boolean }[] = [{ value: root }];
  const around = new Set<object>();
  const checked = new Set<object>();
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    const { value, leaving } = step;
    if (value === null || typeof value === "string" || typeof value === "boolean") continue;
    if (typeof value === "number" && Number.isFinite(value)) continue;
    if (typeof value !== "object" || (around.has(value) && !leaving)) return false;
    if (leaving) {
      around.delete(value);
      checked.add(value);
    } else if (!checked.has(value)) {
      const children = inside(value);
      if (children === undefined) return false;
      around.add(value);
      open.push({ value, leaving: true });
      for (const child of children) open.push({ value: child });
    }
  }
  return true;
}

export const jsonValue = z.custom<JsonValue>(isJsonValue, "must be a JSON value (finite numbers, no cycles)");
