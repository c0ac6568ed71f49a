import { OperationFailure, type OperationTable } from "../../src/runtime/operation.js";
import { localize } from "./localize.js";

/** Ambient declarations that are joined to those of the contract. */
export const declarations = `
interface LocalizeRequest {
  /** Observation whose left image is searched; the top-down view serves best. */
  observation_ref: string;
  /** A colour and a kind in words, for example "the red can" or "blue tray". Kinds: box, cylinder, can, ball, tray, bowl, mat, object (any). */
  query: string;
}
/** One thing that fits the words. */
interface LocalizeOk {
  status: "ok";
  message: string;
  observation_ref: string;
  /** Tight pixel box of the thing in the left image. */
  box: Box;
  /** A pixel on the thing, near the middle of what is seen of it. */
  pixel: Pixel;
  /** Colour and kind as they were seen. */
  label: string;
  /** What looked, "pointing/colour-shape". */
  model: string;
}
interface LocalizeFailed {
  /** not_found: nothing fits the words. ambiguous: several things fit; nothing is guessed. */
  status: Exclude<StatusCode, "ok"> | "not_found" | "ambiguous";
  message: string;
}
interface RobotApi {
  /** Finds the one thing of an image that fits some words, by colour and shape. Says not_found or ambiguous rather than guess. */
  localize(request: LocalizeRequest): Promise<LocalizeOk | LocalizeFailed>;
}
`;

function check(request: unknown): { observation_ref: string; query: string } {
  const fields = (typeof request === "object" && request !== null ? request : {}) as Record<string, unknown>;
  const unknown = Object.keys(fields).find((key) => key !== "observation_ref" && key !== "query");
  if (unknown !== undefined)
    throw new OperationFailure(
      "invalid_argument",
      `localize: there is no field "${unknown}"; it takes observation_ref and query`,
    );
  const { observation_ref, query } = fields;
  if (typeof observation_ref !== "string")
    throw new OperationFailure("invalid_argument", "localize: observation_ref must be the ref of an observation");
  if (typeof query !== "string" || query.length === 0 || query.length > 200)
    throw new OperationFailure("invalid_argument", "localize: query must be 1 to 200 characters of words");
  return { observation_ref, query };
}

export const functions: OperationTable = { localize: { kind: "function", check, run: localize } };
