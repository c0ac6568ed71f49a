import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Skill2RealError } from "./errors.js";
import { type OPERATION_NAMES, OPERATIONS, RESULT_SCHEMAS } from "./generated/robot-api-dispatch.js";
import type { FieldInfo, OperationInfo, RequestInfo } from "./operation-info.js";
import { validateRequest, validateResult } from "./validate-request.js";

const POSE = { x: 0.4, y: 0.1, z: 0.2, qx: 1, qy: 0, qz: 0, qw: 0 };

function message(operation: string, request: unknown): string {
  const checked = validateRequest(operation, request);
  if (checked.ok) throw new Error(`${operation} accepted ${JSON.stringify(request)}`);
  return checked.message;
}

const quaternion = fc
  .tuple(
    fc.double({ min: -1, max: 1, noNaN: true }),
    fc.double({ min: -1, max: 1, noNaN: true }),
    fc.double({ min: -1, max: 1, noNaN: true }),
    fc.double({ min: -1, max: 1, noNaN: true }),
  )
  .filter((parts) => Math.hypot(...parts) > 1e-3)
  .map((parts) => {
    const norm = Math.hypot(...parts);
    const [qx = 0, qy = 0, qz = 0, qw = 0] = parts.map((part) => part / norm);
    return { qx, qy, qz, qw };
  });

/** Values that the field table allows. */
function fieldValue(field: FieldInfo): fc.Arbitrary<unknown> {
  const number = fc.double({ min: field.min ?? -100, max: field.max ?? 100, noNaN: true, noDefaultInfinity: true });
  const element = (): fc.Arbitrary<unknown> => {
    switch (field.kind) {
      case "number":
        return number;
      case "integer":
        return fc.integer({ min: field.min ?? 0, max: field.max ?? 1000 });
      case "string":
        return fc.string({ minLength: field.minLength ?? 0, maxLength: field.maxLength ?? 20 });
      case "boolean":
        return fc.boolean();
      case "choice":
        return fc.constantFrom(...(field.values ?? []));
      case "json":
        return fc.jsonValue();
      case "object":
        return objectOf(field.fields ?? []);
    }
  };
  if (!field.repeated) return element();
  if (field.kind === "number" && field.length === 3) {
    return fc.tuple(number, number, number).filter((vector) => Math.hypot(...vector) > 1e-3);
  }
  const least = field.length ?? field.minLength ?? 0;
  return fc.array(element(), {
    minLength: least,
    maxLength: field.length ?? Math.min(field.maxLength ?? 5, least + 4),
  });
}

function objectOf(fields: readonly FieldInfo[]): fc.Arbitrary<Record<string, unknown>> {
  const required = fields.filter(({ optional }) => !optional).map(({ name }) => name);
  const plain = fc.record(Object.fromEntries(fields.map((field) => [field.name, fieldValue(field)])), {
    requiredKeys: required,
  });
  const names = new Set(fields.map(({ name }) => name));
  if (names.has("qw")) return fc.tuple(plain, quaternion).map(([pose, rotation]) => ({ ...pose, ...rotation }));
  if (names.has("x1")) {
    return plain.filter((box) => Number(box.x1) > Number(box.x0) && Number(box.y1) > Number(box.y0));
  }
  if (names.has("mask_ref") && names.has("closing_axis_world")) {
    return plain.filter((goal) => goal.mask_ref === undefined || goal.depth_ref !== undefined);
  }
  return plain;
}

function requestOf(info: RequestInfo): fc.Arbitrary<Record<string, unknown>> {
  if ("fields" in info) return objectOf(info.fields);
  return fc.oneof(
    ...info.variants.map(({ value, fields }) =>
      objectOf(fields).map((rest) => ({ [info.discriminator]: value, ...rest })),
    ),
  );
}

/** Paths of all numbers in a request. */
function numberPaths(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value === "number") return [path];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    numberPaths(inner, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

function withValue(value: unknown, path: readonly (string | number)[], replacement: unknown): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return replacement;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>;
  copy[head] = withValue(copy[head], rest, replacement);
  return copy;
}

const anOperation = fc.constantFrom(...OPERATIONS);
const aCall = anOperation.chain((info) => requestOf(info.request).map((request) => ({ info, request })));

describe("requests", () => {
  it("that the field table allows are accepted, as they are", () => {
    fc.assert(
      fc.property(aCall, ({ info, request }) => {
        const checked = validateRequest(info.name, request);
        if (!checked.ok) throw new Error(checked.message);
        const rounded = (value: unknown) =>
          JSON.stringify(value, (_, one) => (typeof one === "number" ? Number(one.toFixed(6)) + 0 : one));
        expect(JSON.parse(rounded(checked.request))).toEqual(JSON.parse(rounded(request)));
      }),
      { numRuns: 400 },
    );
  });

  it("with a misspelled key are refused, with the right one", () => {
    const misspelt = aCall
      .filter(({ request }) => Object.keys(request).some((key) => key.length > 3 && key !== "mode"))
      .chain(({ info, request }) =>
        fc.record({
          info: fc.constant(info),
          request: fc.constant(request),
          key: fc.constantFrom(...Object.keys(request).filter((key) => key.length > 3 && key !== "mode")),
        }),
      );
    fc.assert(
      fc.property(misspelt, ({ info, request, key }) => {
        const { [key]: value, ...rest } = request;
        const text = message(info.name, { ...rest, [`${key}x`]: value });
        expect(text).toContain(`${info.name}: the request has an unknown key "${key}x". Did you mean "${key}"?`);
      }),
    );
  });

  it("with a number that is not finite are refused, with its path", () => {
    const broken = aCall
      .filter(({ request }) => numberPaths(request).length > 0)
      .chain(({ info, request }) =>
        fc.record({
          info: fc.constant(info),
          request: fc.constant(request),
          path: fc.constantFrom(...numberPaths(request)),
          value: fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
        }),
      );
    fc.assert(
      fc.property(broken, ({ info, request, path, value }) => {
        const text = message(info.name, withValue(request, path, value));
        const where = path
          .map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`))
          .join("")
          .slice(1);
        expect(text).toContain(`${info.name}: ${where} is ${value}; it must be a finite number`);
      }),
    );
  });

  const numbers = (info: OperationInfo): FieldInfo[] =>
    "fields" in info.request
      ? info.request.fields.filter(
          ({ kind, repeated, min, max }) => kind === "number" && !repeated && min !== undefined && max !== undefined,
        )
      : [];

  it("with a number out of range are refused, with the range", () => {
    const ranged = anOperation
      .filter((info) => numbers(info).length > 0)
      .chain((info) =>
        fc.record({
          info: fc.constant(info),
          request: requestOf(info.request),
          field: fc.constantFrom(...numbers(info)),
          low: fc.boolean(),
        }),
      );
    fc.assert(
      fc.property(ranged, ({ info, request, field, low }) => {
        const value = low ? Number(field.min) - 0.001 : Number(field.max) + 0.001;
        const text = message(info.name, { ...request, [field.name]: value });
        expect(text).toContain(
          `${field.name} is ${value}; it must be a finite number from ${field.min} to ${field.max}`,
        );
      }),
    );
  });

  it("with a required field missing are refused by its name", () => {
    expect(message("goto_pose", {})).toContain(
      "goto_pose: pose is missing; it must be an object with the keys x, y, z",
    );
    expect(message("gripper_goto", {})).toContain("opening_m is missing");
    expect(message("compile_pose", {})).toContain('mode is missing; it must be one of "grasp", "place"');
    expect(message("compile_pose", { mode: "grsp" })).toContain(
      'mode is "grsp"; it must be one of "grasp", "place". Did you mean "grasp"?',
    );
  });

  it("with lists of the wrong length are refused, huge ones without looking at their elements", () => {
    const goal = { mode: "grasp", grasp_center_xyz: [0, 0], closing_axis_world: [0, 1, 0] };
    expect(message("compile_pose", goal)).toContain(
      "grasp_center_xyz is [0, 0]; it must be a list of exactly 3 elements",
    );
    expect(message("follow_path", { poses: [] })).toContain("poses is []; it must be a list of 1 to 2000 elements");
    const unreadable = new Proxy(new Array(1_000_000), {
      get: (list, key) => {
        if (key !== "length") throw new Error(`element ${String(key)} was read`);
        return list.length;
      },
    });
    expect(message("follow_path", { poses: unreadable })).toContain("poses is a list of 1000000 elements");
  });

  it("with values that do not fit together are refused", () => {
    const box = { x0: 10, y0: 0, x1: 3, y1: 5 };
    expect(message("get_sam_mask_from_box", { observation_ref: "o", box })).toContain(
      "box.x1 is 3; it must be above x0, which is 10",
    );
    const goal = { mode: "grasp", grasp_center_xyz: [0, 0, 0], closing_axis_world: [0, 1, 0] };
    expect(message("compile_pose", { ...goal, mask_ref: "m" })).toContain("needs depth_ref");
    expect(message("compile_pose", { ...goal, closing_axis_world: [0, 0, 0] })).toContain("must have a length");
    expect(message("goto_pose", { pose: { ...POSE, qx: 0.5 } })).toContain("norm 0.5");
  });

  it("that are not objects, or of no operation, are refused", () => {
    for (const value of [null, 3, "x", true, [], () => 1])
      expect(message("goto_home", value)).toMatch(/^goto_home: the request /);
    expect(message("goto_hom", {})).toBe('there is no operation "goto_hom". Did you mean "goto_home"?');
    for (const name of ["__proto__", "constructor", "toString"])
      expect(message(name, {})).toContain("there is no operation");
    expect(message("goto_home", { arm: "" })).toContain("a string of 1 to 200 characters");
  });

  it("may be left out where nothing is required", () => {
    expect(validateRequest("goto_home", undefined)).toEqual({ ok: true, request: {} });
  });

  it("have their quaternions normalised", () => {
    const checked = validateRequest("goto_pose", { pose: { ...POSE, qx: 0.995 } });
    expect(checked.ok && checked.request.pose.qx).toBe(1);
  });
});

describe("results", () => {
  const refused = (operation: (typeof OPERATION_NAMES)[number], value: unknown): string => {
    try {
      validateResult(operation, value);
    } catch (error) {
      expect((error as Skill2RealError).code).toBe("internal");
      return (error as Skill2RealError).message;
    }
    throw new Error("accepted");
  };
  const home = { status: "ok", message: "", reached_pose: POSE, stop_reason: "completed" };

  it("that the contract declares pass unchanged", () => {
    expect(validateResult("goto_home", home)).toEqual(home);
    const failed = { status: "busy", message: "left is moving" };
    expect(validateResult("goto_home", failed)).toEqual(failed);
    const stopped = {
      status: "unexpected_contact",
      message: "touched",
      reached_pose: POSE,
      stop_reason: "unexpected_contact",
    };
    expect(validateResult("goto_home", stopped)).toEqual(stopped);
    expect(validateResult("get_current_image_path", "views/topdown_3.png")).toBe("views/topdown_3.png");
    const working_state = { holding: null, seen: [{ box: [1, 2] }] };
    const previous = { status: "ok", message: "", stage: 2, working_state, held_object_state: [] };
    expect(validateResult("get_previous_proposer_state", previous)).toEqual(previous);
  });

  it("that say less or more are refused, naming what", () => {
    const { stop_reason: _, ...less } = home;
    expect(refused("goto_home", less)).toContain("stop_reason is missing");
    expect(refused("goto_home", { ...home, is_held: true })).toContain('unknown key "is_held"');
    expect(refused("goto_home", { status: "no_image", message: "" })).toContain('status is "no_image"');
    expect(refused("goto_home", { ...home, reached_pose: { ...POSE, z: Number.NaN } })).toContain(
      "reached_pose.z is NaN",
    );
    expect(refused("get_current_image_path", { path: "x" })).toContain("the result is an object; it must be a string");
    const poses = { approach: POSE, contact: POSE, lift: POSE };
    expect(refused("compile_pose", { status: "collision", message: "", ...poses })).toContain("unknown key");
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    const previous = { status: "ok", message: "", stage: null, working_state: cyclic, held_object_state: [] };
    expect(refused("get_previous_proposer_state", previous)).toContain("working_state");
  });

  it("may fail with each code that an operation declares, and with no other", () => {
    for (const { name, statuses, returnsString } of OPERATIONS) {
      if (returnsString) continue;
      for (const status of statuses) expect(RESULT_SCHEMAS[name].safeParse({ status, message: "" }).success).toBe(true);
      expect(RESULT_SCHEMAS[name].safeParse({ status: "no_image", message: "" }).success).toBe(false);
    }
  });

  it("hold working states of any depth", () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    const previous = { status: "ok", message: "", stage: 1, working_state: deep, held_object_state: [] };
    expect(() => validateResult("get_previous_proposer_state", previous)).not.toThrow();
  });
});
