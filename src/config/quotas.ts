import type { Config } from "./schema.js";

/** The sandbox's quotas (`Quotas` of src/program) that a configuration sets. */
export function quotasOf({ program }: Config) {
  return {
    maxCalls: program.calls,
    wallTime_s: program.wall_s,
    deviceTime_s: program.device_time_s,
    turnCpu_s: program.cpu_ms / 1000,
    maxPrintedChars: program.output_bytes,
    memory_MB: program.memory_mb,
    maxPathPoints: program.path_points,
  };
}
