import type { ErrorCode } from "../../contract/error-codes.js";
import { CLAIMS, type Claim } from "../proposer.js";
import type { ModelReply } from "./messages.js";

/** What a reply asks for, or why it is none and what to tell the model. */
export type ReadReply =
  | { kind: "program"; program: string; words: string }
  | { kind: "finish"; finish: Claim; evidence: string }
  | { kind: "call"; name: string; request: Record<string, unknown>; notes: string | null }
  | { kind: "unusable"; code: ErrorCode; problem: string };

type Fence = { language: string; code: string };
type Split = { fences: Fence[]; words: string; openLanguage: string | null };
const FENCE = /^[ \t]*```[ \t]*([\w+#.-]*)/;
const TYPESCRIPT = ["ts", "typescript", "tsx", ""];
/** Some models write the language of their habit; JavaScript is TypeScript. */
const JAVASCRIPT = ["js", "javascript", "mjs"];

const unusable = (code: ErrorCode, problem: string): ReadReply => ({ kind: "unusable", code, problem });

/** What of every reply can be told before its content is looked at. */
function wholeReply(reply: ModelReply): ReadReply | null {
  if (reply.refusal !== null || reply.finish_reason === "content_filter")
    return unusable(
      "model_refusal",
      `You declined (${(reply.refusal ?? "content filter").slice(0, 200)}). Finish with execution_failure if you cannot go on.`,
    );
  if (reply.text.trim() === "" && reply.tool === null)
    return unusable("model_empty_reply", "Your reply was empty. Reply with one program in a ts block, or finish.");
  return null;
}

/** A reply in the modes of programs: a call of a tool, one fenced program, or a finish. */
export function readProgramReply(reply: ModelReply): ReadReply {
  const early = wholeReply(reply);
  if (early) return early;
  if (reply.tool) return readTool(reply.tool);
  const { fences, words, openLanguage } = splitFences(reply.text);
  const finish = readFinish(reply.text, fences);
  if (finish) return finish;
  const programs = fences.filter(({ language }) => [...TYPESCRIPT, ...JAVASCRIPT].includes(language));
  const cut = programs.length === 0 && ["ts", "typescript"].includes(openLanguage ?? "");
  if (cut && reply.finish_reason === "length")
    return unusable("model_no_program", "Your program was cut off at the length limit. Write a shorter one.");
  if (programs.length > 1)
    return unusable(
      "model_no_program",
      `Your reply has ${programs.length} code blocks. Reply with exactly one program.`,
    );
  const [program] = programs;
  if (program && program.code.trim() !== "")
    return { kind: "program", program: program.code, words: words.trim().slice(0, 2000) };
  const [other] = fences;
  if (other && !["json", "text", "md", "markdown"].includes(other.language))
    return unusable(
      "model_wrong_language",
      `Your code is marked "${other.language}". Programs are TypeScript, in one block marked ts.`,
    );
  return unusable("model_no_program", "Your reply holds no program. Reply with one fenced block marked ts, or finish.");
}

/** A reply in the modes of single operations: one JSON object. */
export function readDirectReply(reply: ModelReply): ReadReply {
  const early = wholeReply(reply);
  if (early) return early;
  const { fences } = splitFences(reply.text);
  const text = fences.find(({ language }) => language === "json" || language === "")?.code ?? reply.text;
  const value = parseObject(text);
  if (!value)
    return unusable(
      "model_no_program",
      'Your reply holds no JSON object. Reply with {"call": …, "request": …} or {"finish": …}.',
    );
  const notes = typeof value.notes === "string" ? value.notes.slice(0, 4000) : null;
  if ("finish" in value) return finishOf(value.finish, value.evidence);
  if (typeof value.call !== "string") return unusable("model_no_program", '"call" must be the name of an operation.');
  const request = value.request ?? {};
  if (typeof request !== "object" || request === null || Array.isArray(request))
    return unusable("model_no_program", '"request" must be an object.');
  return { kind: "call", name: value.call, request: request as Record<string, unknown>, notes };
}

function readTool({ name, arguments: text }: { name: string; arguments: string }): ReadReply {
  const value = parseObject(text);
  if (!value) return unusable("model_no_program", `The arguments of ${name} are no JSON object.`);
  if (name === "finish") return finishOf(value.claim ?? value.finish, value.evidence);
  if (name !== "run_program")
    return unusable("model_no_program", `There is no tool "${name}"; there are run_program and finish.`);
  if (typeof value.program !== "string" || value.program.trim() === "")
    return unusable("model_no_program", "run_program needs the program's text in `program`.");
  // A program inside a fence inside the argument is meant as the program.
  const [inner] = splitFences(value.program).fences;
  return { kind: "program", program: inner?.code ?? value.program, words: String(value.purpose ?? "").slice(0, 2000) };
}

/** `finish` as a JSON object or as a line of its own: "finish: supported - because …". */
function readFinish(text: string, fences: readonly Fence[]): ReadReply | null {
  for (const { language, code } of fences) {
    if (language !== "json" && language !== "") continue;
    const value = parseObject(code);
    if (value && "finish" in value) return finishOf(value.finish, value.evidence);
  }
  if (fences.length > 0) return null;
  const bare = parseObject(text);
  if (bare && "finish" in bare) return finishOf(bare.finish, bare.evidence);
  const line =
    /^[ \t`*"]*finish[\s`*":=-]+(supported|partial|execution_failure|unresolved)\b[\s`*",.:;-]*(.*)$/ims.exec(text);
  return line ? finishOf(line[1], line[2]?.trim()) : null;
}

function finishOf(claim: unknown, evidence: unknown): ReadReply {
  if (typeof claim !== "string" || !CLAIMS.includes(claim as Claim))
    return unusable("model_no_program", `finish must be one of ${CLAIMS.join(", ")}.`);
  return {
    kind: "finish",
    finish: claim as Claim,
    evidence: typeof evidence === "string" ? evidence.slice(0, 2000) : "",
  };
}

/**
 * Closed fences of a reply, what stands around them, and the language of one that is left open. Line by line: an endpoint may
 * send two megabytes of anything, and a pattern that tries every beginning against every end would hold the process for hours.
 */
function splitFences(text: string): Split {
  const fences: Fence[] = [];
  const words: string[] = [];
  let open: { language: string; lines: string[] } | null = null;
  for (const line of text.split("\n")) {
    if (open === null) {
      const begins = FENCE.exec(line);
      if (begins) open = { language: (begins[1] ?? "").toLowerCase(), lines: [] };
      else words.push(line);
    } else if (line.trim() === "```") {
      fences.push({ language: open.language, code: open.lines.map((one) => `${one}\n`).join("") });
      open = null;
    } else open.lines.push(line);
  }
  return { fences, words: words.join("\n"), openLanguage: open?.language ?? null };
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text.trim());
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
