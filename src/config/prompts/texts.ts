import { readdirSync, readFileSync } from "node:fs";
import { packageFile } from "../../contract/package-root.js";

/** Parts that a text of `prompts/roles` is written for. */
export const ROLES = [
  "proposer-stage1",
  "proposer-stage2",
  "proposer-consolidation",
  "proposer-deployment",
  "verifier",
  "governor",
] as const;
export type Role = (typeof ROLES)[number];

/** Prompts of single files in which the model calls one operation per reply. */
export const DIRECT_PROMPTS = ["direct", "direct-notes"] as const;
export type DirectPrompt = (typeof DIRECT_PROMPTS)[number];

const read = (...parts: string[]): string =>
  readFileSync(packageFile("prompts", ...parts), "utf8").replaceAll("\r\n", "\n");

export const roleText = (role: Role): string => read("roles", `${role}.md`);

/** With its markers: rendered like a section of a pack. */
export const directText = (prompt: DirectPrompt): string => read(`${prompt}.md`);

/** What is told of a family of tasks beside the instruction; empty where there is nothing. */
export function taskText(family: string): string {
  return readdirSync(packageFile("prompts", "tasks")).includes(`${family}.md`) ? read("tasks", `${family}.md`) : "";
}
