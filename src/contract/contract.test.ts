import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  CONTRACT_DIGESTS,
  findOperation,
  IMPLEMENTATION_DIGEST,
  isOperationName,
  OPERATION_NAMES,
  OPERATIONS,
  REQUEST_SCHEMAS,
  RESULT_SCHEMAS,
  ROBOT_API_TEXT,
  STATUS_CODES,
} from "./index.js";
import { packageFile } from "./package-root.js";

describe("the dispatch table", () => {
  it("holds 18 operations, numbered 1 to 18, each once", () => {
    expect(OPERATIONS.map(({ number }) => number)).toEqual(Array.from({ length: 18 }, (_, index) => index + 1));
    expect(new Set(OPERATION_NAMES).size).toBe(18);
    expect(OPERATIONS.map(({ name }) => name)).toEqual([...OPERATION_NAMES]);
    expect(Object.keys(REQUEST_SCHEMAS)).toEqual([...OPERATION_NAMES]);
    expect(Object.keys(RESULT_SCHEMAS)).toEqual([...OPERATION_NAMES]);
  });

  it("gives each operation to the required skill that owns it", () => {
    const numbers = (skill: string) => OPERATIONS.filter((one) => one.skill === skill).map(({ number }) => number);
    expect(numbers("core")).toEqual([1, 2, 3]);
    expect(numbers("verify")).toEqual([4, 5]);
    expect(numbers("geometry")).toEqual([6, 7, 8, 9]);
    expect(numbers("kinematics")).toEqual([10]);
    expect(numbers("grasping")).toEqual([11, 14, 16]);
    expect(numbers("motion")).toEqual([15, 17, 18]);
    expect(numbers("memory")).toEqual([12, 13]);
  });

  it("says that only 15 to 18 move anything, and that 4 and 5 give a string", () => {
    expect(OPERATIONS.filter(({ moves }) => moves).map(({ number }) => number)).toEqual([15, 16, 17, 18]);
    expect(OPERATIONS.filter(({ returnsString }) => returnsString).map(({ number }) => number)).toEqual([4, 5]);
  });

  it("names statuses that exist, common ones for all, and uses each code somewhere", () => {
    const common = Object.values(STATUS_CODES).filter((status) => status.common);
    for (const { statuses } of OPERATIONS) {
      for (const status of statuses) expect(STATUS_CODES).toHaveProperty(status);
      for (const { code } of common) expect(statuses).toContain(code);
      expect(statuses).not.toContain("ok");
    }
    const ofSkills = Object.values(STATUS_CODES)
      .filter(({ documentation }) => documentation.endsWith("Given by functions of optional skills."))
      .map(({ code }) => code);
    const used = new Set<string>(OPERATIONS.flatMap(({ statuses }) => statuses));
    expect(Object.keys(STATUS_CODES).filter((code) => !used.has(code))).toEqual(["ok", ...ofSkills]);
  });

  it("documents every operation and every field of its request", () => {
    for (const { documentation, summary, example, name, request } of OPERATIONS) {
      expect(documentation.startsWith(summary)).toBe(true);
      expect(example).toContain(`robot.${name}(`);
      const fields = "fields" in request ? request.fields : request.variants.flatMap((variant) => variant.fields);
      for (const field of fields) expect(field.documentation, `${name} ${field.name}`).not.toBe("");
    }
  });

  it("finds an operation by its name, and nothing by another", () => {
    expect(findOperation("goto_pose")?.number).toBe(15);
    for (const name of ["toString", "__proto__", "constructor", "goto_pos", ""])
      expect(isOperationName(name)).toBe(false);
  });
});

it("the text holds every operation, each status and nothing of the others", () => {
  const whole = readFileSync(packageFile("src/contract/generated/robot-api.md"), "utf8");
  for (const { name, number, signature, example } of OPERATIONS) {
    const text = ROBOT_API_TEXT.operations[name];
    expect(text).toContain(`### ${number}. ${name}\n`);
    expect(text).toContain(signature);
    expect(text).toContain(example);
    expect(text.match(/^### /gm)).toHaveLength(1);
    expect(whole).toContain(text.trimEnd());
  }
  for (const code of Object.keys(STATUS_CODES)) expect(ROBOT_API_TEXT.statuses).toContain(`\`${code}\``);
});

describe("status codes", () => {
  it("have numbers of their own and documentation", () => {
    const codes = Object.entries(STATUS_CODES);
    expect(new Set(codes.map(([, { number }]) => number)).size).toBe(codes.length);
    for (const [name, { code, documentation }] of codes) {
      expect(code).toBe(name);
      expect(documentation).toMatch(/^\S.*\.$/);
    }
    expect(STATUS_CODES.ok.number).toBe(0);
  });
});

it("the digests are SHA-256 in hex, each another", () => {
  const digests = [...Object.values(CONTRACT_DIGESTS), IMPLEMENTATION_DIGEST];
  for (const digest of digests) expect(digest).toMatch(/^[0-9a-f]{64}$/);
  expect(new Set(digests).size).toBe(4);
});
