import { formatDiagnostics } from "../../program/index.js";
import type { CallRecord, StageRecord } from "../proposer.js";
import { caption, ImageNames } from "./captions.js";
import { type ImagePart, type ModelMessage, type TextPart, textMessage } from "./messages.js";

/** How much of a stage is told: everything, without images, without results, or hardly anything. */
export const DETAIL = ["whole", "no images", "no results", "one line"] as const;
export type Detail = (typeof DETAIL)[number];

export type StageMessagesOptions = {
  coordinates: "pixel" | "norm1000";
  images: boolean;
  /** Device time at which the episode began. */
  start_s: number;
};

const JSON_CHARS = 4000;
const seconds = (value: number): string => value.toFixed(1);
const json = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "null";
  return text.length > JSON_CHARS ? `${text.slice(0, JSON_CHARS)}… (${text.length} characters)` : text;
};

/** Gives the messages of one stage in as much detail as asked; each is written once. */
export type StageTeller = (detail: Detail) => ModelMessage[];

/** A teller for every stage; names of images count through all of them. */
export function stageTellers(stages: readonly StageRecord[], options: StageMessagesOptions): StageTeller[] {
  const names = new ImageNames();
  return stages.map((stage) => {
    // Named also where they are not shown, so that trimming renames nothing.
    const parts = stage.images.map((image) => names.part(image));
    const told = new Map<Detail, ModelMessage[]>();
    return (detail) => {
      const messages = told.get(detail) ?? oneStage(stage, parts, detail, options);
      told.set(detail, messages);
      return messages;
    };
  });
}

function oneStage(
  stage: StageRecord,
  images: ImagePart[],
  detail: Detail,
  options: StageMessagesOptions,
): ModelMessage[] {
  const said: ModelMessage[] = [];
  if (stage.program !== null) {
    const program =
      detail === "one line" ? "(an earlier program, no longer shown)" : `\`\`\`ts\n${stage.program.trimEnd()}\n\`\`\``;
    said.push(textMessage("assistant", program));
  }
  const parts: (TextPart | ImagePart)[] = [{ type: "text", text: report(stage, detail, options) }];
  stage.images.forEach((image, at) => {
    const part = images[at];
    if (!part) return;
    if (detail !== "whole" || !options.images) {
      if (detail === "whole" || detail === "no images")
        parts.push({ type: "text", text: `${caption(part, image, options.coordinates)} (image not shown)` });
      return;
    }
    parts.push({ type: "text", text: caption(part, image, options.coordinates) }, part);
  });
  return [...said, { role: "user", parts }];
}

function report(stage: StageRecord, detail: Detail, { start_s }: StageMessagesOptions): string {
  const title =
    stage.stage === 0
      ? "Before your first program: what the cameras see."
      : `Stage ${stage.stage}, ${seconds(stage.start_s - start_s)} to ${seconds(stage.end_s - start_s)} s: ${ending(stage)}`;
  if (detail === "one line") return title;
  const lines = [title];
  if (stage.stage > 0) {
    lines.push(...stage.calls.map((call) => callLine(call, detail)));
    if (stage.printed.length > 0 && detail !== "no results")
      lines.push("Printed:", ...stage.printed.map(({ text }) => `  ${text}`));
    if (stage.end.kind === "returned") lines.push(`Returned: ${json(stage.end.working_state)}`);
  }
  return lines.join("\n");
}

function callLine({ operation, request, status, result }: CallRecord, detail: Detail): string {
  const head = `- ${operation}(${detail === "no results" ? "…" : json(request)}) -> ${status}`;
  return detail === "no results" ? head : `${head} ${result}`;
}

/** How a stage ended, in words that hold for every model. */
export function ending({ end }: StageRecord): string {
  switch (end.kind) {
    case "looked":
      return "looked";
    case "returned":
      return "the program returned";
    case "threw":
      return `the program threw${end.line === null ? "" : ` at line ${end.line}`}: ${end.message}${end.code === undefined ? "" : ` (${end.code})`}`;
    case "killed":
      return `the program was ended (${end.code}): ${end.message}`;
    case "refused":
      return `the program did not pass the check, and nothing of it was run:\n${formatDiagnostics(end.diagnostics)}`;
  }
}
