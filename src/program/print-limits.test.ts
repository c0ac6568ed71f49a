import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeControls } from "./print-limits.js";

describe("escapeControls", () => {
  it("shows terminal escapes and carriage returns instead of passing them on", () => {
    expect(escapeControls("\u001b[2Jgone\rline\u0007")).toBe("\\u001b[2Jgone\\u000dline\\u0007");
    expect(escapeControls("a\u2028b\u009b")).toBe("a\\u2028b\\u009b");
  });

  it("leaves printable text, tabs and newlines as they are", () => {
    expect(escapeControls("a\tb\nµ → 机器人 🤖")).toBe("a\tb\nµ → 机器人 🤖");
  });

  it("never lets a control character through", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        for (const char of escapeControls(text)) {
          const code = char.codePointAt(0) ?? 0;
          expect(code >= 160 || code === 9 || code === 10 || (code >= 32 && code < 127)).toBe(true);
        }
      }),
    );
  });
});
