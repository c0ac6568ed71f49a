import { describe, expect, it } from "vitest";
import { z } from "zod";
import { OPERATIONS, REQUEST_SCHEMAS } from "./generated/robot-api-dispatch.js";
import { requestSchema, resultSchema } from "./info-schemas.js";
import type { FieldInfo } from "./operation-info.js";

const plain = (schema: z.ZodType): unknown => z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
const field = (name: string, rest: Partial<FieldInfo> = {}): FieldInfo => ({
  name,
  kind: "number",
  type: "number",
  documentation: "",
  optional: false,
  repeated: false,
  ...rest,
});
const accepts = (fields: FieldInfo[], value: unknown): boolean =>
  requestSchema({ name: "X", fields }).safeParse(value).success;

describe("schemas made from what a .proto says of its fields", () => {
  it.each(OPERATIONS.map(({ name, request }) => ({ name, request })))(
    "are those that are generated as code: $name",
    ({ name, request }) => {
      expect(plain(requestSchema(request))).toEqual(plain(REQUEST_SCHEMAS[name]));
    },
  );

  it("keep the rules that no JSON schema can say", () => {
    const between = [field("low"), field("high", { above: "low" })];
    expect(accepts(between, { low: 1, high: 2 })).toBe(true);
    expect(accepts(between, { low: 2, high: 2 })).toBe(false);
    const direction = [field("axis", { repeated: true, length: 3, nonzero: true })];
    expect(accepts(direction, { axis: [0, 0, 1] })).toBe(true);
    expect(accepts(direction, { axis: [0, 0, 0] })).toBe(false);
    const together = [field("a", { optional: true }), field("b", { optional: true, needs: "a" })];
    expect(accepts(together, { a: 1, b: 1 })).toBe(true);
    expect(accepts(together, { b: 1 })).toBe(false);
    const pose = OPERATIONS.find(({ name }) => name === "goto_pose")!.request;
    const at = { x: 0, y: 0, z: 0, qx: 0, qy: 0, qz: 0, qw: 1 };
    expect(requestSchema(pose).safeParse({ pose: { ...at, qw: 1.005 } })).toMatchObject({
      success: true,
      data: { pose: { qw: 1 } },
    });
    expect(requestSchema(pose).safeParse({ pose: { ...at, qw: 0.9 } }).success).toBe(false);
  });

  it("of results hold no more and no less than is documented, and on failure what may go with it", () => {
    const schema = resultSchema({ name: "R", fields: [field("far_m"), field("reached_m", { onFailure: true })] }, [
      "not_reached",
    ]);
    const fits = (value: unknown): boolean => schema.safeParse(value).success;
    expect(fits({ status: "ok", message: "", far_m: 1, reached_m: 1 })).toBe(true);
    expect(fits({ status: "ok", message: "", far_m: 1 })).toBe(false);
    expect(fits({ status: "ok", message: "", far_m: 1, reached_m: 1, more: 1 })).toBe(false);
    expect(fits({ status: "not_reached", message: "" })).toBe(true);
    expect(fits({ status: "not_reached", message: "", reached_m: 1 })).toBe(true);
    expect(fits({ status: "not_reached", message: "", far_m: 1 })).toBe(false);
    expect(fits({ status: "lost", message: "" })).toBe(false);
  });
});
