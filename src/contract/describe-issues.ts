import type { z } from "zod";
import { childSchema, expectedOf, knownKeys, unwrap } from "./schema-shape.js";
import { suggest } from "./suggest.js";

const SHOWN_CHARACTERS = 60;

/** A value as a message shows it: short, and never an object's whole content. */
export function showValue(value: unknown): string {
  if (typeof value === "string") {
    const text = JSON.stringify(value);
    return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…" (${value.length} characters)`;
  }
  if (Array.isArray(value) && value.length <= 6 && value.every((one) => typeof one === "number")) {
    return `[${value.join(", ")}]`;
  }
  if (Array.isArray(value)) return `a list of ${value.length} element${value.length === 1 ? "" : "s"}`;
  if (value === null || value === undefined || typeof value === "number" || typeof value === "boolean")
    return String(value);
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** `pose.x`, `poses[3].z`; the label stands for the whole value. */
export function pathText(path: readonly PropertyKey[], label: string): string {
  const text = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
  return text === "" ? label : text.replace(/^\./, "");
}

type Place = { schema: z.core.$ZodType | undefined; value: unknown };

function follow(schema: z.core.$ZodType, value: unknown, path: readonly PropertyKey[]): Place {
  let place: Place = { schema, value };
  for (const part of path) {
    const next = place.schema && childSchema(place.schema, part, place.value);
    const inner = place.value as Record<PropertyKey, unknown> | null | undefined;
    place = { schema: next, value: inner === null || inner === undefined ? undefined : inner[part] };
  }
  return place;
}

function describeUnknownKeys(keys: readonly string[], place: Place, where: string): string {
  const known = place.schema ? knownKeys(place.schema, place.value) : [];
  const name = keys[0] ?? "";
  const hint = suggest(name, known);
  const list = known.length > 0 ? ` Known keys: ${known.join(", ")}.` : " It takes none.";
  return `${where} has an unknown key "${name}".${hint}${hint === "" ? list : ""}`;
}

function describeIssue(schema: z.core.$ZodType, value: unknown, issue: z.core.$ZodIssue, label: string): string {
  const place = follow(schema, value, issue.path);
  const where = pathText(issue.path, label);
  if (issue.code === "unrecognized_keys") return describeUnknownKeys(issue.keys, place, where);
  const shown = place.value === undefined ? "missing" : showValue(place.value);
  if (issue.code === "custom") return `${where}${shown === "an object" ? "" : ` is ${shown}; it`} ${issue.message}.`;
  const expected = place.schema ? expectedOf(place.schema) : { text: issue.message };
  const hint =
    typeof place.value === "string" && (expected.values?.length ?? 0) > 1
      ? suggest(place.value, expected.values ?? [])
      : "";
  return `${where} is ${shown}; it must be ${expected.text}.${hint}`;
}

/** Misspelled keys explain missing ones, so they are told first. */
const rank = (issue: z.core.$ZodIssue): number => (issue.code === "unrecognized_keys" ? 0 : 1);

/**
 * One message for what a schema refused: the path of the value, the value, its limit, and for a misspelled name the nearest
 * known one. `label` names the whole value ("the request", "skill2real.toml").
 */
export function describeIssues(
  schema: z.ZodType,
  value: unknown,
  issues: readonly z.core.$ZodIssue[],
  label: string,
): string {
  const [first, ...others] = [...issues].sort((a, b) => rank(a) - rank(b));
  if (!first) return `${label} was refused`;
  const more = others.length === 0 ? "" : ` (and ${others.length} more problem${others.length === 1 ? "" : "s"})`;
  return describeIssue(unwrap(schema), value, first, label) + more;
}
