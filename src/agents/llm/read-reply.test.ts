import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ModelReply } from "./messages.js";
import { readDirectReply, readProgramReply } from "./read-reply.js";

const reply = (text: string, fields: Partial<ModelReply> = {}): ModelReply => ({
  text,
  tool: null,
  finish_reason: "stop",
  refusal: null,
  ...fields,
});
const tool = (name: string, value: unknown) => reply("", { tool: { name, arguments: JSON.stringify(value) } });
const fence = (language: string, code: string) => `Words.\n\n\`\`\`${language}\n${code}\n\`\`\`\n`;

describe("readProgramReply", () => {
  it.each([
    ["a ts block", reply(fence("ts", "return 1;")), "return 1;\n"],
    ["a typescript block", reply(fence("typescript", "return 1;")), "return 1;\n"],
    ["a block without a language", reply(fence("", "return 1;")), "return 1;\n"],
    ["JavaScript, which is TypeScript too", reply(fence("js", "return 1;")), "return 1;\n"],
    ["a call of run_program", tool("run_program", { program: "return 1;" }), "return 1;"],
    ["a call with a block in it", tool("run_program", { program: fence("ts", "return 1;") }), "return 1;\n"],
  ])("takes %s", (_name, given, program) => {
    expect(readProgramReply(given)).toMatchObject({ kind: "program", program });
  });

  it.each([
    ["a call of finish", tool("finish", { claim: "partial", evidence: "half" }), "partial", "half"],
    ["a JSON object", reply('{"finish": "supported", "evidence": "seen"}'), "supported", "seen"],
    ["a JSON block", reply(fence("json", '{"finish": "unresolved", "evidence": ""}')), "unresolved", ""],
    ["a line", reply("**finish: supported** - the can is in the tray."), "supported", "the can is in the tray."],
  ])("takes the end as %s", (_name, given, finish, evidence) => {
    expect(readProgramReply(given)).toEqual({ kind: "finish", finish, evidence });
  });

  it.each([
    ["nothing", reply("  "), "model_empty_reply"],
    ["prose", reply("I would first look at the table."), "model_no_program"],
    ["Python", reply(fence("python", "robot.look()")), "model_wrong_language"],
    ["two programs", reply(fence("ts", "a") + fence("ts", "b")), "model_no_program"],
    ["a program that was cut off", reply("```ts\nconst a = ", { finish_reason: "length" }), "model_no_program"],
    ["a refusal", reply("", { refusal: "I cannot move robots" }), "model_refusal"],
    ["a filtered reply", reply("x", { finish_reason: "content_filter" }), "model_refusal"],
    ["an unknown tool", tool("move", {}), "model_no_program"],
    ["arguments that are no JSON", reply("", { tool: { name: "run_program", arguments: "{" } }), "model_no_program"],
    ["an unknown claim", tool("finish", { claim: "success", evidence: "" }), "model_no_program"],
  ])("says what is wrong with %s", (_name, given, code) => {
    const read = readProgramReply(given);
    expect(read).toMatchObject({ kind: "unusable", code });
    if (read.kind === "unusable") expect(read.problem.length).toBeGreaterThan(10);
  });

  it("says that code with a finish line in it is a program", () => {
    const given = reply(fence("ts", "// finish: supported\nreturn 1;"));
    expect(readProgramReply(given)).toMatchObject({ kind: "program" });
  });

  // Each took hours where every beginning was tried against every end.
  it.each([
    ["beginnings of blocks", "```ts\n".repeat(200_000)],
    ["beginnings after one program", `${fence("ts", "return 1;")}${"```ts\n".repeat(200_000)}`],
    ["empty lines", `x${"\n".repeat(1_000_000)}y`],
    ["empty lines before a comment", fence("ts", `${"\n".repeat(1_000_000)}x`)],
    ["spaces", `\`\`\`${" ".repeat(1_000_000)}x`],
  ])("comes to an end with a megabyte of %s", (_name, text) => {
    expect(readProgramReply(reply(text)).kind).not.toBe("finish");
    expect(readDirectReply(reply(text)).kind).toBe("unusable");
  });

  it("gives an answer to whatever text", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 400 }), fc.constantFrom("stop", "length", ""), (text, finish_reason) => {
        expect(["program", "finish", "unusable"]).toContain(readProgramReply(reply(text, { finish_reason })).kind);
        expect(["call", "finish", "unusable"]).toContain(readDirectReply(reply(text, { finish_reason })).kind);
      }),
    );
  });
});

describe("readDirectReply", () => {
  it("takes one call, with notes, and the end", () => {
    expect(readDirectReply(reply(fence("json", '{"call": "goto_home", "notes": "n"}')))).toEqual({
      kind: "call",
      name: "goto_home",
      request: {},
      notes: "n",
    });
    expect(readDirectReply(reply('{"finish": "partial", "evidence": "e"}'))).toMatchObject({ finish: "partial" });
  });

  it.each(["go home", '{"request": {}}', '{"call": "a", "request": []}', "[]"])("refuses %j", (text) => {
    expect(readDirectReply(reply(text))).toMatchObject({ kind: "unusable", code: "model_no_program" });
  });
});
