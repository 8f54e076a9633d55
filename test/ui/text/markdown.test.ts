import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineText } from "../../../src/ui/text/line.ts";
import { MARKDOWN_LIMIT, markdownLines } from "../../../src/ui/text/markdown.ts";
import { anyWidth, expectSound, hostileText, shown } from "./arbitrary.ts";

describe("Markdown", () => {
  it.each([
    ["a heading keeps its marks", "## Title *here*", 40, ["## Title here"]],
    ["lines of the source stay lines", "one\ntwo\n\nthree", 40, ["one", "two", "", "three"]],
    ["a list hangs", "- one two three\n- four", 10, ["• one two", "  three", "• four"]],
    ["lists nest", "- a\n  - b\n    1. c", 40, ["• a", "  • b", "    1. c"]],
    ["numbers go on and align", "9. a\n10. b", 40, [" 9. a", "10. b"]],
    ["tasks show what is done", "- [x] done\n- [ ] open", 40, ["☑ done", "☐ open"]],
    ["a loose list breathes", "- a\n\n- b", 40, ["• a", "", "• b"]],
    ["code has a gutter and its language", "```ts\nlet a;\n\n  b();\n```", 40, ["┌ ts", "│ let a;", "│", "│   b();"]],
    ["long code wraps inside the gutter", "```\nlong code line\n```", 10, ["│ long", "│ code", "│ line"]],
    ["quotations nest", "> a\n> > b", 40, ["▎ a", "▎", "▎ ▎ b"]],
    ["a rule fills the width", "---", 5, ["─────"]],
    ["a link tells where it leads", "[here](https://x.dev/a)", 40, ["here (https://x.dev/a)"]],
    ["an address is not said twice", "see https://x.dev", 40, ["see https://x.dev"]],
    ["an image is named", "![chart](a.png)", 40, ["[chart] (a.png)"]],
    ["entities are read", "a &amp;&lt;b", 40, ["a &<b"]],
    ["HTML is shown as it is", "<b>x</b>", 40, ["<b>x</b>"]],
    ["an escape that an entity hides is a dot", "&#27;[31m", 40, ["·[31m"]],
    ["an unfinished fence is code", "text\n```py\nprint(", 40, ["text", "", "┌ py", "│ print("]],
    ["unfinished emphasis is text", "a **bold", 40, ["a **bold"]],
    ["a table is fitted", "|a|bb|\n|-|-:|\n|1|2|", 40, ["a │ bb", "──┼───", "1 │  2"]],
  ])("%s", (_rule, markdown, width, expected) => {
    expect(shown(markdownLines(markdown, width)).map((line) => line.trimEnd())).toEqual(expected);
  });

  it("marks what is strong, stressed, struck and code, one inside the other", () => {
    const [line = []] = markdownLines("**a *b*** ~~c~~ `d`", 40);
    expect(line).toEqual([
      { text: "a ", style: "text", bold: true },
      { text: "b", style: "text", bold: true, italic: true },
      { text: " ", style: "text" },
      { text: "c", style: "text", strike: true },
      { text: " ", style: "text" },
      { text: "d", style: "code" },
    ]);
  });

  it("gives the terminal only links that are safe", () => {
    const href = (markdown: string) =>
      markdownLines(markdown, 80)
        .flat()
        .find((piece) => piece.style === "link")?.href;
    expect(href("[a](https://x.dev/b)")).toBe("https://x.dev/b");
    expect(href("[a](javascript:alert)")).toBeUndefined();
    expect(href("[a](file:///etc/passwd)")).toBeUndefined();
    expect(href("[a](<https://x.dev/\u001b]8;;evil>)")).toBeUndefined();
  });

  it("makes lists of the rows of a table that is too narrow", () => {
    const table = "|aaaaaaa|bbbbbbb|ccccccc|\n|-|-|-|\n|1111111|2222222|3333333|";
    expect(shown(markdownLines(table, 20))).toEqual(["• aaaaaaa: 1111111", "  bbbbbbb: 2222222", "  ccccccc: 3333333"]);
  });

  it("draws with ASCII alone when asked", () => {
    const markdown = "- a\n- [x] b\n\n> q\n\n```ts\nc\n```\n\n---\n\n|a|b|\n|-|-|\n|1|2|";
    expect(shown(markdownLines(markdown, 20, { ascii: true })).join("\n")).toMatch(/^[\x20-\x7e\n]*$/u);
  });

  it("grows line by line while it streams, without a word lost", () => {
    const whole = "# T\n\nSome **bold** text\n\n- a\n- b\n\n```ts\nlet x = 1;\n```\n\n|a|b|\n|-|-|\n|1|2|\n";
    for (let end = 0; end <= whole.length; end++) {
      const lines = markdownLines(whole.slice(0, end), 30);
      expectSound(lines, 30);
      const words = whole.slice(0, end).match(/[a-zA-Z]{2,}/gu) ?? [];
      for (const word of words) expect(lines.map(lineText).join("\n")).toContain(word);
    }
  });

  it("is never wider than the screen, and lets nothing through that a terminal acts on", () => {
    fc.assert(
      fc.property(hostileText, anyWidth, (markdown, width) => expectSound(markdownLines(markdown, width), width)),
      { numRuns: 300 },
    );
  });

  it("stops at its limit", () => {
    expect(markdownLines("a\n\n".repeat(500), 20, { limit: 7 })).toHaveLength(7);
  });

  it("wraps a text above the limit as it is", () => {
    const text = `# ${"word ".repeat(MARKDOWN_LIMIT / 5)}`;
    expect(lineText(markdownLines(text, 40)[0] ?? [])).toMatch(/^# word/u);
    expect(markdownLines(text, 40)[0]?.[0]?.style).toBe("text");
  });

  it.each([
    ["*".repeat(64_000)],
    ["[".repeat(64_000)],
    [">".repeat(64_000)],
    ["> ".repeat(32_000)],
    ["- ".repeat(32_000)],
    ["1. ".repeat(20_000)],
    ["_a".repeat(32_000)],
    ["**a *b ".repeat(9_000)],
    ["[a](".repeat(16_000)],
    ["|a".repeat(30_000)],
    ["<!--".repeat(16_000)],
    ["`` ` ".repeat(12_000)],
    [Array.from({ length: 250 }, (_, depth) => `${" ".repeat(depth)}- x`).join("\n")],
  ])("does not stall on %.12s…", (text) => {
    const start = performance.now();
    expectSound(markdownLines(text, 60, { limit: 200 }), 60);
    expect(performance.now() - start).toBeLessThan(3000);
  });
});
