import type { Shape } from "./measure-region.js";
import type { Kind } from "./parse-query.js";

/** 1 inside [low, high], falling to 0 over `slack` beyond either end. */
function within(value: number, low: number, high: number, slack: number): number {
  if (value < low) return Math.max(0, 1 - (low - value) / slack);
  if (value > high) return Math.max(0, 1 - (value - high) / slack);
  return 1;
}

/** Things wider than this are for putting something in or on. */
const RECEPTACLE_M = 0.105;
/** Leaning of the top that tells a dome from a plate. */
const DOME = 0.5;

/** How well a measured shape fits each kind, 0 to 1. */
export function classify(shape: Shape): Partial<Record<Kind, number>> {
  const { long_m, short_m, height_m, round, dome } = shape;
  if (long_m > RECEPTACLE_M) {
    return {
      mat: within(height_m, 0, 0.009, 0.006),
      tray: within(height_m, 0.016, 0.045, 0.01) * (round ? 0.3 : 1),
      bowl: within(height_m, 0.03, 0.075, 0.015) * (round ? 1 : 0.3),
    };
  }
  const square = within(short_m / long_m, 0.8, 1, 0.25);
  const domed = dome === null ? 0.5 : within(dome, DOME, 3, 0.25);
  const flat = dome === null ? 0.5 : within(dome, -3, DOME, 0.25);
  return {
    can: within(height_m, 0.07, 0.13, 0.02) * square * (round ? 1 : 0.6),
    ball:
      within(height_m / long_m, 0.75, 1.15, 0.3) *
      within(height_m, 0.03, 0.068, 0.015) *
      square *
      domed *
      (round ? 1 : 0.5),
    cylinder: within(height_m, 0.03, 0.066, 0.012) * square * flat * (round ? 1 : 0.35),
    box: within(height_m, 0.02, 0.068, 0.012) * flat * (round ? 0.35 : 1),
  };
}
