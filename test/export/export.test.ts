import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lexer, type Token, walkTokens } from "marked";
import { describe, expect, it } from "vitest";
import { allEntries } from "../../src/commands/show.ts";
import {
  type ExportFormat,
  exportSession,
  exportToFile,
  formatOfName,
  timelineEntries,
} from "../../src/export/index.ts";
import { blankEntry, type Entry, publicEntry } from "../../src/session/entry.ts";
import { publicSnapshot, type Snapshot } from "../../src/session/snapshot.ts";
import { jsonText } from "../../src/session/untrusted.ts";
import { statefileSource } from "../../src/sources/statefile/source.ts";
import { fixture } from "../support/fixtures.ts";
import { evidenceOf, readSource, rootsOf } from "../support/read-source.ts";
import { sessionOf } from "../support/sessions.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { treeHash } from "../support/tree-hash.ts";

const NOW = "2026-11-20T12:00:00.000Z";

function entryOf(over: Partial<Entry>): Entry {
  return { ...blankEntry({ ref: "1", n: 1, kind: "text" }), ...over };
}

async function exported(
  format: ExportFormat,
  entries: Partial<Entry>[],
  over: Partial<Snapshot> = {},
): Promise<string> {
  let text = "";
  for await (const chunk of exportSession(sessionOf("a", over), entries.map(entryOf), format)) text += chunk;
  return text;
}

function tokensOf(markdown: string): Token[] {
  const tokens: Token[] = [];
  walkTokens(lexer(markdown), (token) => void tokens.push(token));
  return tokens;
}

const HOSTILE = [
  "</script><script>alert(1)</script>",
  "</pre></details></section></main><img src=x onerror=alert(1)>",
  "</style><style>*{display:none}</style>",
  "[click](javascript:alert(1))",
  "[click](<javascript:alert(1)>)",
  "[click]( JavaScript&#58;alert(1))",
  "[click][x]\n\n[x]: javascript:alert(1)",
  "![x](data:text/html;base64,PHNjcmlwdD4=)",
  "<javascript:alert(1)>",
  "<!-- open for ever",
  "<details><summary>never closed",
  "````\nan open fence",
  "~~~~ js\nanother",
  "```\n```` not closed by fewer\n~~~",
  "a ` code\nb ` <script>alert(1)</script> ` c",
  "\\` <script>alert(1)</script> `",
  "<?php echo 1 ?>",
  "\u001b[31mred\u001b]0;title\u0007\u0000\u009b2J\u202etxt",
  "# a heading\r<b>bold</b>",
  '"><svg/onload=alert(1)>',
];

describe("a session as HTML", () => {
  it.each(HOSTILE)("shows %j as text", async (text) => {
    const everywhere: Partial<Entry>[] = [
      { kind: "message", role: "user", text },
      { text },
      { kind: "thinking", text },
      { kind: "call", call: { id: "1", name: text, args: { [text]: text } } },
      { kind: "result", text, result: { for: text, exit: 1, isError: true, truncated: true, fullOutput: text } },
      { kind: "marker", text, media: { type: text, bytes: 1 }, time: text },
      { kind: "message", role: text, text },
    ];
    const html = await exported("html", everywhere, { title: text, cwd: text, models: [text] });
    const tags = [...html.matchAll(/<([/!]?[A-Za-z][A-Za-z0-9]*)/gu)].map(([, name]) => name?.replace("/", ""));
    const allowed =
      "!doctype html head meta title style body header h1 dl dt dd main section details summary h2 pre p time";
    expect([...new Set(tags)].filter((name) => !["!doctype", ...allowed.split(" ")].includes(name ?? ""))).toEqual([]);
    for (const name of ["pre", "details", "section", "main", "style"]) {
      const open = html.match(new RegExp(`<${name}[ >]`, "gu"))?.length ?? 0;
      expect(html.match(new RegExp(`</${name}>`, "gu"))?.length ?? 0, name).toBe(open);
    }
    expect(html.replace(/"[^"]*"/gu, "")).not.toMatch(/<[^>]*\s(?:on\w+|href|src)\s*=/iu);
    expect(html).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/u);
  });

  it("is one file that loads nothing, under a policy that allows its own style alone", async () => {
    const html = await exported("html", [{ text: "see https://example.org" }]);
    expect(html).toMatch(
      /<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-[^"]+'; base-uri 'none'; form-action 'none'">/u,
    );
    expect(html).not.toMatch(/<(?:script|link|img|iframe|a)\b|url\(|@import/iu);
    expect(html).toContain("prefers-color-scheme: dark");
  });

  it("keeps every line, indent and blank of a text", async () => {
    const html = await exported("html", [{ text: "\n  one\n\n\ttwo & <three>" }]);
    expect(html).toContain('<pre dir="auto">\n\n  one\n\n\ttwo &amp; &lt;three&gt;</pre>');
  });
});

describe("a session as Markdown", () => {
  it("leaves prompts and replies as they are", async () => {
    const reply =
      "Use `Array<string>`:\n\n```ts\nconst a: Array<string> = [];\n```\n\n- [docs](https://example.org)\n- 1 < 2";
    const markdown = await exported("md", [{ kind: "message", role: "user", text: "Fix **this**" }, { text: reply }]);
    expect(markdown).toContain("\n## Prompt\n\nFix **this**\n");
    expect(markdown).toContain(`\n## Reply\n\n${reply}\n`);
  });

  it("fences calls and results with a fence that nothing in them ends", async () => {
    const text = "before\n```\n# not a heading\n`````\nafter";
    const markdown = await exported("md", [
      { kind: "call", call: { id: "1", name: "run", args: { code: text } } },
      { kind: "result", text },
      { kind: "call", call: { id: "2", name: "apply", args: text } },
    ]);
    const codes = tokensOf(markdown).filter((token) => token.type === "code");
    expect(codes.map((token) => ("text" in token ? token.text : ""))).toEqual([
      JSON.stringify({ code: text }, null, 2),
      text,
      text,
    ]);
  });

  it("folds thinking away", async () => {
    const markdown = await exported("md", [{ kind: "thinking", text: "hm" }]);
    expect(markdown).toContain("<details>\n<summary>Thinking</summary>\n\nhm\n\n</details>");
  });

  it.each(HOSTILE)("lets %j neither run nor swallow what follows", async (text) => {
    const hostile: Partial<Entry>[] = [
      { kind: "message", role: "user", text },
      { text },
      { kind: "thinking", text },
      { kind: "marker", text },
      { kind: "result", text },
      { kind: "message", role: "user", text: "the next prompt" },
    ];
    const markdown = await exported("md", hostile, { title: text, cwd: text });
    const tokens = tokensOf(markdown);
    const html = tokens.flatMap((token) => (token.type === "html" ? [token.raw.trim()] : []));
    for (const raw of html) expect(raw).toMatch(/^(?:<details>\n<summary>Thinking<\/summary>|<\/details>)$/u);
    for (const token of tokens) {
      if (token.type === "link" || token.type === "image")
        expect(token.href).not.toMatch(/^\s*(?:javascript|data|&)/iu);
    }
    const headings = tokens.flatMap((token) => (token.type === "heading" && "text" in token ? [token.text] : []));
    expect(headings.filter((one) => one === "Prompt")).toHaveLength(2);
    expect(tokens.at(-1)).toMatchObject({ text: "the next prompt" });
    expect(markdown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/u);
  });
});

describe("a session as JSON", () => {
  it("is what show --json prints, for every fixture, and reading changes nothing", async () => {
    const dir = fixture("statefile", "sessions");
    const before = treeHash(dir);
    const { reader, seen } = await readSource(statefileSource, [dir], evidenceOf(NOW));
    expect(seen.snapshots.size).toBeGreaterThan(0);
    for (const snapshot of seen.snapshots.values()) {
      const { entries } = await allEntries(reader, snapshot.key, "timeline");
      const shown = { schema: 1, session: publicSnapshot(snapshot), entries: entries.map(publicEntry) };
      let text = "";
      for await (const chunk of exportSession(snapshot, timelineEntries(reader, snapshot.key), "json")) text += chunk;
      expect(text).toBe(`${jsonText(shown, 2)}\n`);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(shown)));
    }
    expect(treeHash(dir)).toEqual(before);
  });

  it("of a session without entries is whole too", async () => {
    expect(JSON.parse(await exported("json", []))).toMatchObject({ schema: 1, entries: [] });
  });
});

describe("writing an export", () => {
  const roots = rootsOf(statefileSource, []);
  async function* chunks(...texts: string[]): AsyncGenerator<string> {
    yield* texts;
  }

  it("makes a new file that only its owner can read", async () => {
    const path = join(temporaryDirectory(), "a.md");
    expect(await exportToFile(chunks("häl", "lo"), path, { force: false, roots })).toEqual({ path, bytes: 6 });
    expect(readFileSync(path, "utf8")).toBe("hällo");
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("replaces a file only when told to, and never half", async () => {
    const dir = temporaryDirectory();
    const path = join(dir, "a.md");
    writeFileSync(path, "mine");
    await expect(exportToFile(chunks("new"), path, { force: false, roots })).rejects.toThrow("--force replaces it");
    async function* breaking(): AsyncGenerator<string> {
      yield "half".repeat(200_000);
      throw new Error("the session is gone");
    }
    await expect(exportToFile(breaking(), path, { force: true, roots })).rejects.toThrow("the session is gone");
    expect(readFileSync(path, "utf8")).toBe("mine");
    await exportToFile(chunks("new"), path, { force: true, roots });
    expect(readFileSync(path, "utf8")).toBe("new");
    expect(readdirSync(dir)).toEqual(["a.md"]);
  });

  it("never writes among the tools' sessions, nor over links, directories and special files", async () => {
    const dir = temporaryDirectory();
    const inside = join(dir, "sessions");
    mkdirSync(inside);
    symlinkSync(inside, join(dir, "way-in"));
    writeFileSync(join(inside, "a.state"), "a session");
    symlinkSync(join(inside, "a.state"), join(dir, "link.md"));
    const before = treeHash(dir);
    const own = rootsOf(statefileSource, [inside]);
    for (const name of [
      "sessions/a.state",
      "sessions/new.md",
      "way-in/new.md",
      "link.md",
      "sessions",
      "missing/a.md",
    ]) {
      await expect(exportToFile(chunks("x"), join(dir, name), { force: true, roots: own }), name).rejects.toThrow();
    }
    expect(treeHash(dir)).toEqual(before);
    await expect(exportToFile(chunks("x"), "/dev/null", { force: true, roots: own })).rejects.toThrow("special file");
    expect(existsSync("/dev/null")).toBe(true);
  });

  it.each([
    ["a.md", "md"],
    ["a.MARKDOWN", "md"],
    ["a.htm", "html"],
    ["a.html", "html"],
    ["a.json", "json"],
    ["a.txt", null],
    ["json", null],
  ])("takes the format of %s for %s", (name, format) => {
    expect(formatOfName(name)).toBe(format);
  });
});
