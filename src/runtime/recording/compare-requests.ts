import type { DeviceRequest } from "../../contract/generated/device.js";
import { sha256 } from "../../contract/sha256.js";
import { requestCodec } from "../../contract/wire/device-codec.js";

/** A request without what differs from run to run: who asks, under which id, and how long it waits. */
function masked(request: DeviceRequest, clock: "SIM" | "WALL"): DeviceRequest {
  const rest = { ...request, protocol_minor: 0, session: "", request_id: "", sequence: 0, deadline_ms: 0 };
  // On a wall clock "not before now" is another number in every run.
  if (clock === "WALL" && rest.get_frames) return { ...rest, get_frames: { ...rest.get_frames, not_before_s: 0 } };
  return rest;
}

/** Digest of what a request asks for: equal for requests that a replay may answer alike. */
export function requestDigest(request: DeviceRequest, clock: "SIM" | "WALL"): string {
  return sha256(requestCodec.encode(masked(request, clock)));
}

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
};

/** The first place where two values differ, in words; null where there is none. */
export function firstDifference(recorded: unknown, asked: unknown, path = ""): string | null {
  if (Object.is(recorded, asked)) return null;
  if (typeof recorded === "object" && typeof asked === "object" && recorded !== null && asked !== null) {
    const keys = new Set([...Object.keys(recorded), ...Object.keys(asked)]);
    for (const key of keys) {
      const [a, b] = [(recorded as Record<string, unknown>)[key], (asked as Record<string, unknown>)[key]];
      const at = Array.isArray(recorded) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
      const found = firstDifference(a, b, at);
      if (found !== null) return found;
    }
    return null;
  }
  return `${path || "it"} is ${shown(asked)}, recorded is ${shown(recorded)}`;
}

/** What differs between two requests of one verb, in words. */
export function requestDifference(recorded: DeviceRequest, asked: DeviceRequest, clock: "SIM" | "WALL"): string {
  return firstDifference(masked(recorded, clock), masked(asked, clock)) ?? "nothing that can be shown";
}
