import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packageFile } from "../../contract/package-root.js";
import { ArmKinematics } from "./pose.js";
import { HOME_RAD, IDENTITY, testArm } from "./pose-test-arm.js";

const ORACLE_POSES = 100_000;
const ORACLE_SEED = 20260;

/** Largest difference of two joint vectors, full turns apart. */
function apart(a: readonly number[], b: readonly number[]): number {
  let most = 0;
  for (let j = 0; j < 6; j++) {
    const d = (a[j] ?? Number.NaN) - (b[j] ?? Number.NaN);
    most = Math.max(most, Math.abs(d - 2 * Math.PI * Math.round(d / (2 * Math.PI))));
  }
  return most;
}

function differ(a: readonly number[], b: readonly number[]): number {
  return Math.max(...a.map((value, i) => Math.abs(value - (b[i] ?? Number.NaN))));
}

/** The oracle's poses and solutions, computed once and kept in build/. */
function oracleFile(python: string): string {
  const file = packageFile("build", `pose-oracle-${ORACLE_POSES}-${ORACLE_SEED}.bin`);
  if (!existsSync(file)) {
    mkdirSync(packageFile("build"), { recursive: true });
    const script = packageFile("native", "pose", "oracle_solutions.py");
    const run = spawnSync(python, [script, `${file}.part`, String(ORACLE_POSES), String(ORACLE_SEED)], {
      encoding: "utf8",
    });
    if (run.status !== 0) throw new Error(`oracle_solutions.py failed: ${run.stderr || run.error?.message}`);
    renameSync(`${file}.part`, file);
  }
  return file;
}

describe("inverse kinematics", () => {
  it("finds every solution of an independent solver on 100,000 random poses", { timeout: 240_000 }, (context) => {
    const python = packageFile(".venvs", "tools", "bin", "python");
    const importable = existsSync(python) && spawnSync(python, ["-c", "import ur_analytic_ik, numpy"]).status === 0;
    if (!importable) context.skip("ur-analytic-ik is not in .venvs/tools: run npm run setup");
    const bytes = readFileSync(oracleFile(python));
    const data = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 8);
    const arm = ArmKinematics.create(testArm({ X_flange_tcp: IDENTITY }));
    let poses = 0;
    let theirs = 0;
    let worstError = 0;
    const missed: number[][] = [];
    const unsolved: number[] = [];
    for (let at = 0; at < data.length; poses++) {
      const X = [...data.subarray(at, at + 12), 0, 0, 0, 1];
      const count = data[at + 12]!;
      const ours = arm.inverse(X, { within_limits: false });
      for (const q of ours) worstError = Math.max(worstError, differ(arm.forward(q), X));
      for (let k = 0; k < count; k++) {
        const q = Array.from(data.subarray(at + 13 + 6 * k, at + 19 + 6 * k));
        if (!ours.some((candidate) => apart(candidate, q) < 1e-4)) missed.push(q);
      }
      if (poses < (ORACLE_POSES * 4) / 5 && ours.length === 0) unsolved.push(poses);
      theirs += count;
      at += 13 + 6 * count;
    }
    expect(poses).toBe(ORACLE_POSES);
    expect(theirs).toBeGreaterThan(4 * ORACLE_POSES);
    expect(worstError).toBeLessThan(1e-9);
    expect(unsolved).toEqual([]);
    expect(missed).toEqual([]);
  });

  it("returns to the joints that a pose came from", () => {
    const arm = ArmKinematics.create(testArm());
    const joint = fc.double({ min: -Math.PI, max: Math.PI, noNaN: true });
    fc.assert(
      fc.property(fc.tuple(joint, joint, joint, joint, joint, joint), (q) => {
        const X = arm.forward(q);
        const solutions = arm.inverse(X);
        expect(solutions.length).toBeGreaterThan(0);
        for (const solution of solutions) expect(differ(arm.forward(solution), X)).toBeLessThan(1e-9);
        // On a singularity the pose has a line of solutions, of which only a member is returned.
        const singular = Math.abs(Math.sin(q[4])) < 1e-6;
        if (!singular) expect(Math.min(...solutions.map((s) => apart(s, q)))).toBeLessThan(1e-3);
        const nearest = arm.inverseNearest(X, q);
        expect(nearest).not.toBeNull();
        if (nearest && !singular) expect(Math.max(...nearest.map((v, i) => Math.abs(v - q[i]!)))).toBeLessThan(1e-3);
      }),
      { numRuns: 300, seed: 7 },
    );
  });

  it("keeps limits, adds full turns on request and names nothing out of reach", () => {
    const arm = ArmKinematics.create(testArm());
    const X = arm.forward(HOME_RAD);
    const plain = arm.inverse(X);
    const turned = arm.inverse(X, { full_turns: true });
    expect(plain.length).toBe(8);
    expect(turned.length).toBeGreaterThan(100);
    for (const q of turned) expect(differ(arm.forward(q), X)).toBeLessThan(1e-9);
    const tight = ArmKinematics.create(
      testArm({ position_min_rad: Array(6).fill(-0.1), position_max_rad: Array(6).fill(0.1) }),
    );
    expect(tight.inverse(X)).toEqual([]);
    expect(tight.inverse(X, { within_limits: false }).length).toBe(8);
    expect(tight.inverseNearest(X, HOME_RAD)).toBeNull();
    const far = [...X];
    far[3] = 2;
    expect(arm.inverse(far)).toEqual([]);
  });

  it("gives a Jacobian that predicts small motions", () => {
    const arm = ArmKinematics.create(testArm());
    const J = arm.jacobian(HOME_RAD);
    expect(J.length).toBe(36);
    const h = 1e-6;
    for (let i = 0; i < 6; i++) {
      const moved = HOME_RAD.map((q, j) => (j === i ? q + h : q));
      const a = arm.forward(HOME_RAD);
      const b = arm.forward(moved);
      for (let row = 0; row < 3; row++) {
        expect(J[row * 6 + i]).toBeCloseTo((b[row * 4 + 3]! - a[row * 4 + 3]!) / h, 5);
      }
    }
    const frames = arm.linkFrames(HOME_RAD);
    expect(frames.length).toBe(7);
    expect(frames[0]).toEqual(IDENTITY);
  });
});
