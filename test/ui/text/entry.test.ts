import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blankEntry, type Entry, type EntryKind } from "../../../src/session/entry.ts";
import { layoutEntry } from "../../../src/ui/text/entry.ts";
import type { EntryOptions } from "../../../src/ui/text/entry-options.ts";
import { anyWidth, expectSound, hostileText, shown } from "./arbitrary.ts";

const KINDS: EntryKind[] = [
  "start",
  "config",
  "system",
  "message",
  "text",
  "thinking",
  "call",
  "result",
  "step",
  "error",
  "compaction",
  "marker",
];
const NOW = Date.parse("2026-03-01T12:00:00.000Z");

function entry(kind: EntryKind, fields: Partial<Entry> = {}): Entry {
  return { ...blankEntry({ ref: "r", n: 1, kind }), inContext: true, ...fields };
}

function laid(of: Entry, options: Partial<EntryOptions> = {}): string[] {
  const lines = layoutEntry(of, { width: 60, fold: "folded", context: false, ascii: false, now: NOW, ...options });
  expectSound(lines, options.width ?? 60);
  return shown(lines);
}

function call(name: string, args: unknown, fields: Partial<Entry> = {}): Entry {
  return entry("call", { call: { id: "c", name, args }, ...fields });
}

function result(text: string | null, fields: Partial<NonNullable<Entry["result"]>> = {}): Entry {
  const ending = { for: "c", exit: null, isError: false, truncated: false, fullOutput: null, ...fields };
  return entry("result", { text, result: ending });
}

const lines = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join("\n");

describe("a message", () => {
  it("of the person stands beside a bar, with its age where there is room", () => {
    const prompt = entry("message", { role: "user", text: "do\nthis", time: "2026-03-01T11:00:00.000Z" });
    expect(laid(prompt, { width: 40 })).toEqual(["▌ do", "▌ this"]);
    expect(laid(prompt)).toEqual([`▌ do${" ".repeat(54)}1h`, "▌ this"]);
  });

  it("of the tool says so and folds to its first line", () => {
    const injected = entry("message", { role: "user", injected: true, via: "hook", text: lines(9) });
    expect(laid(injected)).toEqual(["▏ injected via hook: line 1", "▏ … +8 lines"]);
    expect(laid(injected, { fold: "open" })).toHaveLength(9);
  });

  it("that is a picture tells its type and size", () => {
    const picture = entry("message", { role: "user", media: { type: "image/png", bytes: 123456 } });
    expect(laid(picture)).toEqual(["▌ [image/png, 123,456 bytes]"]);
  });

  it("of a megabyte costs what is shown and says how much is not", () => {
    const text = "x".repeat(1_000_000);
    const start = performance.now();
    const shownLines = laid(entry("message", { role: "user", text }), { width: 42 });
    expect(performance.now() - start).toBeLessThan(500);
    expect(shownLines).toHaveLength(21);
    expect(shownLines.at(-1)).toBe("▌ … +1 line, 999 kB");
  });

  it("that the reader clipped says how many bytes more there are", () => {
    expect(laid(entry("text", { text: "beginning", clipped: 34_100 }))).toEqual([
      "  beginning",
      "  … 34 kB more in the file",
    ]);
  });
});

describe("a reply", () => {
  it("is laid out as Markdown", () => {
    expect(laid(entry("text", { text: "Sure:\n\n- **a**\n- b" }))).toEqual(["  Sure:", "  ", "  • a", "  • b"]);
  });

  it("folds at its limit with a count, and opens", () => {
    const long = entry("text", { text: lines(200) });
    expect(laid(long).at(-1)).toBe("  … +120 lines");
    expect(laid(long, { fold: "full" })).toHaveLength(200);
  });
});

describe("thinking", () => {
  it("is one line with its size until it is opened", () => {
    const thought = entry("thinking", { text: "First this.\nThen that." });
    expect(laid(thought, { width: 40 })).toEqual(["∴ thinking · First this. Then that. 22 B"]);
    expect(laid(thought, { fold: "open" })).toEqual(["∴ thinking", "  First this.", "  Then that."]);
  });
});

describe("a call", () => {
  it.each([
    ["Bash", { command: "npm test", description: "Run" }, "→ Bash npm test"],
    ["shell", '{"command":["bash","-lc","ls -la"]}', "→ shell ls -la"],
    ["exec_command", '{"cmd":"node x.js"}', "→ exec_command node x.js"],
    ["Read", { file_path: "/a/b.ts" }, "→ Read /a/b.ts"],
    ["Grep", { pattern: "TODO", path: "src" }, "→ Grep TODO src"],
    ["Fetch", { url: "https://x.dev" }, "→ Fetch https://x.dev"],
    ["custom", { depth: 2, flags: ["a", "b"] }, "→ custom depth: 2, flags: [a, b]"],
    ["plain", "some text", "→ plain some text"],
    ["none", null, "→ none"],
    ["broken", '{"command":"npm', '→ broken {"command":"npm'],
    ["\u001b[31mevil", { command: "a\nb\u0007" }, "→ ·[31mevil a b·"],
  ])("of %s is named in one line", (name, args, expected) => {
    expect(laid(call(name, args))).toEqual([expected]);
  });

  it("tells how it ended by a word, and how long it took", () => {
    const asked = call("Bash", { command: "make" }, { time: "2026-03-01T11:00:00.000Z" });
    const failed = { ...result("", { exit: 2, isError: true }), time: "2026-03-01T11:00:03.200Z" };
    expect(laid(asked, { paired: failed, width: 40 })).toEqual([`→ Bash make${" ".repeat(16)}3.2s ✗ exit 2`]);
    expect(laid(asked, { paired: null, width: 40 })[0]).toMatch(/◌ no result$/u);
    expect(laid(asked, { paired: result("", { isError: true }), width: 40 })[0]).toMatch(/✗ error$/u);
    expect(laid(asked)).toEqual(["→ Bash make"]);
    expect(laid(asked, { paired: failed, width: 12 })[0]).toMatch(/✗$/u);
  });

  it.each([
    ["Edit", { file_path: "a.ts", old_string: "x\ny", new_string: "x\nz" }],
    ["edit", { path: "a.ts", old: "x\ny", new: "x\nz" }],
    ["edit", { path: "a.ts", edits: [{ oldText: "x\ny", newText: "x\nz" }] }],
    ["replace", { filePath: "a.ts", oldString: "x\ny", newString: "x\nz" }],
  ])("of %s shows what it changes", (name, args) => {
    expect(laid(call(name, args))[0]).toMatch(/^→ \w+ a\.ts +\+1 -1$/u);
    expect(laid(call(name, args), { fold: "open" }).slice(1)).toEqual(["    x", "  - y", "  + z"]);
  });

  it("that writes a file shows its lines as added", () => {
    const write = call("Write", { file_path: "a.ts", content: "one\ntwo\n" });
    expect(laid(write, { fold: "open" }).slice(1)).toEqual(["  1 + one", "  2 + two"]);
  });

  it.each([
    [{ input: "*** Begin Patch\n*** Update File: a.ts\n@@\n-b\n+c\n*** End Patch" }],
    ["*** Begin Patch\n*** Update File: a.ts\n@@\n-b\n+c\n*** End Patch"],
    [{ command: ["apply_patch", "*** Begin Patch\n*** Update File: a.ts\n@@\n-b\n+c\n*** End Patch"] }],
    [{ command: "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.ts\n@@\n-b\n+c\n*** End Patch\nEOF" }],
  ])("with a patch shows the patch", (args) => {
    const open = laid(call("apply_patch", args), { fold: "open" });
    expect(open[0]).toMatch(/\+1 -1$/u);
    expect(open.slice(1)).toEqual(["  Update File: a.ts", "  …", "  - b", "  + c"]);
  });

  it("opens to its script and its other arguments", () => {
    expect(laid(call("Bash", { command: "a\nb", timeout: 5 }), { fold: "open" }).slice(1)).toEqual([
      "  a",
      "  b",
      "  {",
      '    "timeout": 5',
      "  }",
    ]);
    const deep = { list: [1, "x"], text: "two\nlines", none: {} };
    expect(laid(call("x", deep), { fold: "open" }).slice(1)).toEqual([
      "  {",
      '    "list": [',
      "      1,",
      '      "x"',
      "    ],",
      '    "text": """',
      "      two",
      "      lines",
      '    """,',
      '    "none": {}',
      "  }",
    ]);
  });

  it("with arguments nested without end is bounded", () => {
    let deep: unknown = "bottom";
    for (let level = 0; level < 50_000; level++) deep = { a: [deep] };
    const start = performance.now();
    const open = laid(call("x", deep), { fold: "full", width: 40 });
    expect(open.length).toBeLessThan(40);
    expect(open.join("\n")).toContain("1 keys");
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index]));
    expect(laid(call("x", wide), { fold: "open" }).at(-1)).toBe("  … more arguments");
    laid(call("x", '{"a":'.repeat(200_000)), { fold: "open" });
    expect(performance.now() - start).toBeLessThan(1500);
  });
});

describe("a result", () => {
  it("shows its first lines and how many more there are", () => {
    expect(laid(result(lines(3)))).toEqual(["└ line 1", "  line 2", "  line 3"]);
    expect(laid(result(`${lines(4)}\n`))).toHaveLength(4);
    expect(laid(result(lines(30)))).toEqual(["└ line 1", "  line 2", "  line 3", "  … +27 lines"]);
    expect(laid(result(lines(30)), { fold: "open" })).toHaveLength(30);
  });

  it("that failed says so in words", () => {
    expect(laid(result("boom", { exit: 2, isError: true }))).toEqual(["└ ✗ exit 2", "  boom"]);
    expect(laid(result(null, { isError: true }))).toEqual(["└ ✗ error"]);
    expect(laid(result("", { exit: 0 }))).toEqual(["└ no output"]);
  });

  it("that the tool cut says where the whole is", () => {
    expect(laid(result("x", { truncated: true, fullOutput: "/tmp/o" }))).toEqual([
      "└ x",
      "  cut by the tool, full output: /tmp/o",
    ]);
  });

  it("loses the colours of what a program printed", () => {
    expect(laid(result("\u001b[1;32mok\u001b[0m 3 passed"))).toEqual(["└ ok 3 passed"]);
  });

  it("that is a patch is shown as one when open", () => {
    const patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
    expect(laid(result(patch), { fold: "open" })).toEqual(["└   x", "    …", "  1 - a", "  1 + b"]);
  });
});

describe("the other kinds", () => {
  const usage = {
    input: 1200,
    output: 950,
    cacheRead: 34_000,
    cacheWrite: 0,
    cacheWrite1h: 0,
    reasoning: 0,
    cost: 0.0412,
  };

  it.each([
    [entry("step", { model: "m-1", usage }), ["· step m-1 · in 1.2k, cached 34k, out 950, $0.04"]],
    [entry("step", { usage: { ...usage, cost: null } }), ["· step · in 1.2k, cached 34k, out 950"]],
    [entry("error", { text: "rate\nlimit" }), ["✗ error: rate", "  limit"]],
    [entry("marker", { text: "model → m-2" }), ["◦ model → m-2"]],
    [entry("start", { text: "begun" }), ["· start begun"]],
    [entry("config"), ["· config"]],
    [entry("system", { text: `You are\n${"x".repeat(2000)}` }), [`▸ system · You are ${"x".repeat(35)}… 2 kB`]],
    [entry("compaction", { text: "Summary" }), [`── compacted · 7 B ${"─".repeat(41)}`]],
    [entry("text", { media: { type: "audio/\u001b[wav", bytes: 9 } }), ["  [audio/·[wav, 9 bytes]"]],
  ])("case %#", (of, expected) => {
    expect(laid(of)).toEqual(expected);
  });

  it("open to what they fold away", () => {
    const system = entry("system", { text: lines(200) });
    const open = laid(system, { fold: "open" });
    expect(open.slice(0, 2)).toEqual(["▾ system", "  line 1"]);
    expect(open.at(-1)).toMatch(/^ {2}… \+120 lines/u);
  });
});

describe("any entry", () => {
  it("shows in the margin whether the model sees it, when asked", () => {
    const seen = entry("text", { text: "a\n\nb" });
    expect(laid(seen, { context: true })).toEqual(["   a", "   ", "   b"]);
    expect(laid({ ...seen, inContext: false }, { context: true })).toEqual(["┊  a", "┊  ", "┊  b"]);
    expect(laid({ ...seen, inContext: false }, { context: true, ascii: true })[0]).toBe("!  a");
  });

  it("draws with ASCII alone when asked, if its text does", () => {
    for (const kind of KINDS) {
      for (const fold of ["folded", "open"] as const) {
        const of = entry(kind, {
          text: lines(100),
          clipped: 5000,
          call: { id: "c", name: "Edit", args: { path: "a", old: "1", new: lines(200) } },
          result: { for: "c", exit: 3, isError: true, truncated: true, fullOutput: "/x" },
        });
        for (const line of laid(of, { ascii: true, fold, context: true, width: 38 })) {
          expect(line).toMatch(/^[\x20-\x7e]*$/u);
        }
      }
    }
  });

  it("is told from the others without colour", () => {
    const signs = KINDS.filter((kind) => !["start", "config", "system"].includes(kind)).map((kind) =>
      laid(
        entry(kind, { text: "x", role: kind === "message" ? "user" : null, call: { id: "c", name: "n", args: {} } }),
      )[0]?.slice(0, 1),
    );
    expect(new Set(signs).size).toBe(signs.length);
  });

  it("is sound whatever a file holds, at every width, in every fold", () => {
    const json = fc.oneof(
      hostileText,
      fc.jsonValue({ maxDepth: 4 }),
      fc.dictionary(hostileText, hostileText, { maxKeys: 4 }),
    );
    const edits = fc.record({ path: hostileText, old_string: hostileText, new_string: hostileText });
    const words = fc.option(hostileText);
    fc.assert(
      fc.property(
        fc.constantFrom(...KINDS),
        fc.record({ text: words, role: words, model: words, via: words, name: hostileText, full: words }),
        fc.oneof(json, edits),
        fc.record({
          width: anyWidth,
          fold: fc.constantFrom("folded" as const, "open" as const, "full" as const),
          context: fc.boolean(),
          ascii: fc.boolean(),
        }),
        fc.boolean(),
        (kind, words, args, options, flag) => {
          const of = entry(kind, {
            text: words.text,
            role: words.role,
            model: words.model,
            via: words.via,
            time: flag ? "2026-03-01T11:00:00.000Z" : "nonsense",
            injected: flag,
            inContext: !flag,
            clipped: flag ? 1234 : 0,
            media: flag ? { type: words.name, bytes: 12 } : null,
            call: { id: "c", name: words.name, args },
            result: { for: "c", exit: flag ? 1 : null, isError: flag, truncated: flag, fullOutput: words.full },
          });
          const paired = flag ? result(words.text, { isError: true }) : null;
          expectSound(layoutEntry(of, { ...options, now: NOW, paired }), options.width);
        },
      ),
      { numRuns: 400 },
    );
  });
});
