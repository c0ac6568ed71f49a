import { describe, expect, it } from "vitest";
import { unitOf } from "./check-model.js";

describe("unitOf", () => {
  it("tells pixels from thousandths, and neither from another place", () => {
    expect(unitOf('{"x0": 401, "y0": 95, "x1": 561, "y1": 214}')).toBe("pixel");
    expect(unitOf('```json\n{"x0":625,"y0":200,"x1":875,"y1":450}\n```')).toBe("norm1000");
    expect(unitOf('{"x0": 0, "y0": 0, "x1": 640, "y1": 480}')).toBeNull();
    expect(unitOf("at the right")).toBeNull();
  });
});
