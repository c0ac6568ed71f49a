import type { StageRecord } from "../agents/proposer.js";

/** A stage in a few lines: its calls with their statuses in order, and how it ended. */
export function formatStage(stage: StageRecord): string {
  const calls = stage.calls.map((call) =>
    call.status === "ok" || call.status === "returned" ? call.operation : `${call.operation} [${call.status}]`,
  );
  return [
    `stage ${stage.stage}  ${(stage.end_s - stage.start_s).toFixed(1)} s of robot time, ${stage.calls.length} calls: ${endWords(stage)}`,
    ...(calls.length > 0 ? [`    ${calls.join(", ")}`] : []),
    ...stage.printed.map((line) => `    | ${line.text}`),
  ].join("\n");
}

export function endWords({ end }: StageRecord): string {
  switch (end.kind) {
    case "looked":
      return "looked at the scene";
    case "returned":
      return `returned ${shortened(JSON.stringify(end.working_state))}`;
    case "threw":
      return `threw ${end.message}${end.line === null ? "" : ` at line ${end.line}`}`;
    case "killed":
      return `ended by the runtime: ${end.code} (${end.message})`;
    case "refused":
      return `refused: ${end.diagnostics[0]?.message ?? "no reason given"}`;
  }
}

const shortened = (text: string): string => (text.length > 160 ? `${text.slice(0, 160)}…` : text);
