import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { confirmTyped } from "./confirm.js";

function terminal(typed: string): {
  input: PassThrough & { isTTY: boolean };
  output: PassThrough;
  shown: () => string;
} {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = new PassThrough();
  input.end(`${typed}\n`);
  return { input, output, shown: () => String(output.read() ?? "") };
}

describe("confirmTyped", () => {
  it("goes on where the word was typed, and shows the warning before", async () => {
    const { input, output, shown } = terminal("bench-2");
    await confirmTyped({ warning: "The real arm moves.", word: "bench-2", input, output });
    expect(shown()).toContain("The real arm moves.");
  });

  it.each(["bench", "BENCH-2", "yes", ""])("leaves where %j was typed", async (typed) => {
    const { input, output } = terminal(typed);
    await expect(confirmTyped({ warning: "", word: "bench-2", input, output })).rejects.toMatchObject({
      code: "stopped",
    });
  });

  it("needs a terminal: words from a pipe are nobody's", async () => {
    const input = new PassThrough();
    input.end("bench-2\n");
    await expect(confirmTyped({ warning: "", word: "bench-2", input })).rejects.toMatchObject({ code: "usage" });
  });
});
