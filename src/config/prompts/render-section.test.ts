import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderSection, type SectionScope } from "./render-section.js";

const scope = (on: string[] = []): SectionScope => ({
  skills: ["core", "pointing"],
  enabled: new Set(on),
  features: ["step_limit"],
  present: new Set(on),
  api: new Map([
    ["core", "### look\n"],
    ["pointing", on.includes("pointing") ? "### localize" : ""],
  ]),
  values: new Map([["table_z", "0.02"]]),
});
const render = (text: string, on: string[] = []) => renderSection(text, "p/s.md", scope(on));

describe("renderSection", () => {
  it("keeps what its conditions ask for, nested, and fills in facts and documentation", () => {
    const text = [
      "z {{table_z}}",
      "<!-- if: pointing -->",
      "P",
      "<!-- if: step_limit, core -->",
      "both",
      "<!-- else -->",
      "not both",
      "<!-- end -->",
      "<!-- else -->",
      "no P",
      "<!-- end -->",
      "<!-- api: core -->",
      "<!-- api: pointing -->",
    ].join("\n");
    expect(render(text)).toBe("z 0.02\nno P\n### look\n");
    expect(render(text, ["pointing"])).toBe("z 0.02\nP\nnot both\n### look\n### localize\n");
    expect(render(text, ["pointing", "core", "step_limit"])).toBe("z 0.02\nP\nboth\n### look\n### localize\n");
  });

  it.each([
    ["<!-- if: pointin -->\n<!-- end -->", /p\/s\.md:1: .*"pointin"\. Did you mean "pointing"/],
    ["a\n<!-- if: core -->\nb", /p\/s\.md:2: this if has no end/],
    ["<!-- end -->", /p\/s\.md:1: end without an if/],
    ["<!-- else -->", /p\/s\.md:1: else without an if/],
    ["<!-- if: core -->\n<!-- else -->\n<!-- else -->\n<!-- end -->", /p\/s\.md:3: a second else for the if of line 1/],
    ["<!-- api: cor -->", /p\/s\.md:1: .*"cor"\. Did you mean "core"/],
    ["{{table}}", /p\/s\.md:1: no fact is named "table"/],
    ["text <!-- if: core -->", /p\/s\.md:1: a marker stands alone/],
    ["<!-- if: pointing -->\n{{tabel_z}}\n<!-- end -->", /p\/s\.md:2: .*Did you mean "table_z"/],
  ])("refuses %j", (text, message) => {
    expect(() => render(text)).toThrow(message);
  });

  it("leaves no marker in whatever well-formed section", () => {
    const leaf = fc.constantFrom("words", "<!-- api: core -->", "<!-- api: pointing -->", "{{table_z}}");
    const { tree } = fc.letrec<{ tree: string; block: string }>((tie) => ({
      block: fc
        .tuple(fc.constantFrom("core", "pointing", "step_limit", "core, step_limit"), tie("tree"), tie("tree"))
        .map(([name, yes, no]) => `<!-- if: ${name} -->\n${yes}\n<!-- else -->\n${no}\n<!-- end -->`),
      tree: fc.oneof(
        { depthSize: "small" },
        leaf,
        tie("block"),
        fc.array(leaf, { maxLength: 3 }).map((l) => l.join("\n")),
      ),
    }));
    fc.assert(
      fc.property(tree, fc.subarray(["core", "pointing", "step_limit"]), (text, on) => {
        expect(render(text, on)).not.toMatch(/<!--|\{\{/);
      }),
    );
  });
});
