import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dropSpecks } from "./observed-scene.js";

const cloudOf = (points: readonly (readonly number[])[]): Float32Array => Float32Array.from(points.flat());
const coordinate = fc.double({ min: -2, max: 2, noNaN: true });
const points = fc.array(fc.tuple(coordinate, coordinate, coordinate), { maxLength: 120 });

describe("dropSpecks", () => {
  it("drops points that are alone in their voxel and keeps the rest in their order", () => {
    const surface = [
      [0.101, 0.2, 0.05],
      [0.102, 0.201, 0.05],
      [0.103, 0.202, 0.051],
    ];
    const kept = dropSpecks(cloudOf([[0.5, 0.5, 0.2], ...surface, [-0.3, 0.1, 0.1]]));
    expect([...kept]).toEqual([...cloudOf(surface)]);
  });

  it("tells apart voxels on either side of zero", () => {
    expect(
      dropSpecks(
        cloudOf([
          [-0.001, 0, 0],
          [0.001, 0, 0],
          [0.002, 0, 0],
        ]),
        0.01,
        2,
      ),
    ).toHaveLength(6);
  });

  it("keeps whole voxels: what is left passes again unchanged, and is what counting says", () => {
    fc.assert(
      fc.property(points, fc.integer({ min: 1, max: 4 }), (cloud, least) => {
        const given = cloudOf(cloud);
        const kept = dropSpecks(given, 0.5, least);
        expect([...dropSpecks(kept, 0.5, least)]).toEqual([...kept]);
        const voxelOf = (i: number) => [0, 1, 2].map((k) => Math.floor(given[i + k]! / 0.5)).join();
        const counts = new Map<string, number>();
        for (let i = 0; i < given.length; i += 3) counts.set(voxelOf(i), (counts.get(voxelOf(i)) ?? 0) + 1);
        const dense = [...counts.values()].filter((count) => count >= least).reduce((sum, count) => sum + count, 0);
        expect(kept.length / 3).toBe(dense);
      }),
    );
  });

  it("gives nothing for nothing", () => {
    expect(dropSpecks(new Float32Array())).toHaveLength(0);
  });
});
