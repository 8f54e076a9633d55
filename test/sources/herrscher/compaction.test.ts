import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { LocalFoldedFiles } from "../../../src/files/folded-files.ts";
import {
  blankTranscriptEntry,
  formatTranscriptLine,
  readTranscript,
  readTranscriptLast,
  TRANSCRIPT_MOST_BYTES,
  transcriptFold,
  transcriptSums,
} from "../../../src/sources/herrscher/index.ts";
import { HerrscherTranscript } from "../../../src/sources/herrscher/timeline.ts";
import type { Cursor } from "../../../src/sources/source.ts";
import { temporaryDirectory } from "../../support/temp.ts";

const APPENDS = 2000;
const REWRITES = 200;

/** Appends as the daemon does, and after every tenth entry rewrites the file to its newest ones under another inode. */
const WRITER = `
const { parentPort, workerData } = require("node:worker_threads");
const fs = require("node:fs");
const { path, appends, rewrites, lines, pad } = workerData;
const kept = lines.slice();
const most = kept.length;
for (let n = 0; n < appends; n += 1) {
  const line = JSON.stringify({ ts: "2026-08-05T12:00:00Z", role: n % 2 ? "assistant" : "user", text: "new " + n + " " + pad, cost: 0.5 }) + "\\n";
  kept.push(line);
  fs.appendFileSync(path, line);
  if ((n + 1) % (appends / rewrites) !== 0) continue;
  kept.splice(0, kept.length - most);
  fs.writeFileSync(path + ".tmp", kept.join(""));
  fs.renameSync(path + ".tmp", path);
}
parentPort.postMessage("done");
`;

describe("compaction in the act", () => {
  it("no entry is shown twice, and none is lost that the final file holds", { timeout: 60_000 }, async () => {
    const path = join(temporaryDirectory(), "t.jsonl");
    const pad = "p".repeat(2000);
    const lines: string[] = [];
    for (let bytes = 0; bytes < TRANSCRIPT_MOST_BYTES; bytes += 2100) {
      lines.push(
        formatTranscriptLine(
          blankTranscriptEntry({ ts: "2026-08-05T11:00:00Z", role: "user", text: `old ${lines.length} ${pad}` }),
        ),
      );
    }
    writeFileSync(path, lines.join(""));
    const shown: string[] = [];
    const refs = new Set<string>();
    const transcript = new HerrscherTranscript(path);
    const files = new LocalFoldedFiles();
    let after: Cursor = "0";
    const follow = async (): Promise<boolean> => {
      const page = await transcript.page({ view: "timeline", at: { after }, limit: 500 });
      for (const entry of page.entries) {
        shown.push((entry.text ?? "").slice(0, 9));
        refs.add(entry.ref);
      }
      after = page.after;
      return page.atEnd;
    };
    const worker = new Worker(WRITER, {
      eval: true,
      workerData: { path, appends: APPENDS, rewrites: REWRITES, lines, pad },
    });
    onTestFinished(() => void worker.terminate());
    let done = false;
    worker.once("message", () => {
      done = true;
    });
    let rounds = 0;
    while (!done) {
      await follow();
      const folded = await files.advance(transcriptFold, path);
      if (folded.ok) expect(transcriptSums(folded.folded.state).droppedLines).toBe(0);
      await new Promise((resolve) => setImmediate(resolve));
      rounds += 1;
    }
    while (!(await follow())) rounds += 1;
    expect(rounds).toBeGreaterThan(5);

    expect(refs.size).toBe(shown.length);
    const final = readTranscript(path).map((entry) => entry.text.slice(0, 9));
    expect(final).toHaveLength(lines.length);
    expect(final.at(-1)).toBe(`new ${APPENDS - 1} `.slice(0, 9));
    const seen = new Set(shown);
    expect(final.filter((text) => !seen.has(text))).toEqual([]);

    const folded = await files.advance(transcriptFold, path);
    const fresh = await new LocalFoldedFiles().advance(transcriptFold, path);
    expect(folded.ok && fresh.ok && folded.folded.state).toEqual(fresh.ok && fresh.folded.state);
    expect(readTranscriptLast(path)).toBe("2026-08-05T12:00:00Z");
  });
});

describe("a file that was replaced by one that looks grown", () => {
  const line = (n: number): string =>
    formatTranscriptLine(
      blankTranscriptEntry({
        role: "assistant",
        text: `${n}`.padStart(4, "0"),
        cost: 0.25,
        tokensIn: 100,
        tokensOut: 2000,
        durMs: 1000,
      }),
    );
  const content = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, n) => line(from + n)).join("");

  it("is read anew, though its lines end alike and its inode is the same", async () => {
    const path = join(temporaryDirectory(), "t.jsonl");
    writeFileSync(path, content(0, 20));
    const files = new LocalFoldedFiles();
    const transcript = new HerrscherTranscript(path);
    const all = { view: "timeline", at: { edge: "start" }, limit: 100 } as const;
    await files.advance(transcriptFold, path);
    const first = await transcript.page(all);
    writeFileSync(path, content(15, 40));
    const folded = await files.advance(transcriptFold, path);
    expect(folded.ok && folded.folded.state.whole).toMatchObject({ entries: 25, cost: 6.25, lastText: "0039" });
    const page = await transcript.page({ view: "timeline", at: { after: first.after }, limit: 100 });
    expect(page.entries.map((entry) => entry.text)).toEqual(Array.from({ length: 20 }, (_, n) => `00${20 + n}`));
  });

  it("a last line that was shown before it was glued to the next is left behind, and nothing comes twice", async () => {
    const path = join(temporaryDirectory(), "t.jsonl");
    writeFileSync(path, content(0, 3).trimEnd());
    const transcript = new HerrscherTranscript(path);
    const first = await transcript.page({ view: "timeline", at: { edge: "start" }, limit: 100 });
    expect(first.entries).toHaveLength(3);
    writeFileSync(path, `${content(3, 4)}${content(4, 5)}`, { flag: "a" });
    const next = await transcript.page({ view: "timeline", at: { after: first.after }, limit: 100 });
    expect(next.entries.map((entry) => entry.text)).toEqual(["0004"]);
  });
});

describe("pages", () => {
  const path = (): string => {
    const file = join(temporaryDirectory(), "t.jsonl");
    const lines = Array.from({ length: 30 }, (_, n) =>
      formatTranscriptLine(blankTranscriptEntry({ role: "user", text: `e${n}` })),
    );
    writeFileSync(
      file,
      `${lines.join("")}garbage\n\n${formatTranscriptLine(blankTranscriptEntry({ role: "user", text: "e29" })).trim()}`,
    );
    return file;
  };

  it("walk forth and back over all entries, each once", async () => {
    const transcript = new HerrscherTranscript(path());
    const forth: string[] = [];
    let page = await transcript.page({ view: "timeline", at: { edge: "start" }, limit: 7 });
    for (;;) {
      forth.push(...page.entries.map((entry) => entry.ref));
      if (page.atEnd) break;
      page = await transcript.page({ view: "timeline", at: { after: page.after }, limit: 7 });
    }
    expect(page.total).toBe(31);
    expect(new Set(forth).size).toBe(31);
    const back: string[] = [];
    page = await transcript.page({ view: "timeline", at: { edge: "end" }, limit: 7 });
    for (;;) {
      back.unshift(...page.entries.map((entry) => entry.ref));
      if (page.atStart) break;
      page = await transcript.page({ view: "timeline", at: { before: page.before }, limit: 7 });
    }
    expect(back).toEqual(forth);
    const at = await transcript.page({ view: "timeline", at: { ref: forth[10] ?? "" }, limit: 1 });
    expect(at.entries[0]).toMatchObject({ text: "e10", n: 11 });
  });

  it("unchanged entries keep their object, and an append reads only what is new", async () => {
    const file = path();
    const transcript = new HerrscherTranscript(file);
    const ask = { view: "timeline", at: { edge: "start" }, limit: 100 } as const;
    const first = await transcript.page(ask);
    writeFileSync(file, `\n${formatTranscriptLine(blankTranscriptEntry({ role: "assistant", text: "more" }))}`, {
      flag: "a",
    });
    const second = await transcript.page(ask);
    expect(second.total).toBe(32);
    for (const [at, entry] of first.entries.entries()) expect(second.entries[at]).toBe(entry);
  });

  it("a text is cut to the limit in whole characters", async () => {
    const file = join(temporaryDirectory(), "t.jsonl");
    writeFileSync(file, formatTranscriptLine(blankTranscriptEntry({ role: "user", text: "aé日本" })));
    const page = await new HerrscherTranscript(file).page({
      view: "timeline",
      at: { edge: "end" },
      limit: 1,
      textLimit: 5,
    });
    expect(page.entries[0]).toMatchObject({ text: "aé", clipped: 6 });
  });

  it("a file that is gone is an empty page", async () => {
    const page = await new HerrscherTranscript("/nowhere/t.jsonl").page({
      view: "timeline",
      at: { edge: "end" },
      limit: 5,
    });
    expect(page).toMatchObject({ entries: [], atStart: true, atEnd: true, total: 0 });
  });

  it.each([
    [
      { role: "user", text: "hello" },
      { kind: "message", injected: false },
    ],
    [
      { role: "user", text: "[Reprise de conversation après …" },
      { kind: "message", injected: true },
    ],
    [
      { role: "user", text: "x-codex a terminé sur session/x-codex (1/2) — done" },
      { kind: "message", injected: true },
    ],
    [
      { role: "assistant", text: "fine", durMs: 1200, cost: 0.5, tokensIn: 3 },
      { kind: "text", durationMs: 1200, usage: { input: 3, cost: 0.5 } },
    ],
    [
      { role: "assistant", text: "codex", durMs: 1200 },
      { kind: "text", durationMs: 1200, usage: null },
    ],
    [{ role: "assistant", text: "⚠️ claude reported an error" }, { kind: "error" }],
    [{ role: "assistant", text: "⚠️ context canceled" }, { kind: "marker" }],
    [{ role: "assistant", text: "⏹ interrupted" }, { kind: "marker" }],
    [{}, { kind: "marker", role: null, time: null }],
    [{ ts: "2026-08-05T12:59:37Z" }, { time: "2026-08-05T12:59:37.000Z" }],
    [{ ts: "not a time" }, { time: null }],
  ])("%j is shown as %j", async (given, wanted) => {
    const file = join(temporaryDirectory(), "t.jsonl");
    writeFileSync(file, formatTranscriptLine(blankTranscriptEntry(given)));
    const page = await new HerrscherTranscript(file).page({ view: "timeline", at: { edge: "end" }, limit: 1 });
    expect(page.entries[0]).toMatchObject(wanted);
    expect(readFileSync(file, "utf8")).toContain(JSON.stringify(page.entries[0]?.text));
  });
});
