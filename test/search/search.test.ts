import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeCorpus } from "../../scripts/corpus.mjs";
import { fileWork } from "../../src/files/open.ts";
import { scanHere, scanInThreads } from "../../src/search/file-filter.ts";
import { parseQuery, type SearchHit, type SearchProgress, searchSessions } from "../../src/search/index.ts";
import { ScanPool } from "../../src/search/scan-pool.ts";
import { blankEntry, type Entry } from "../../src/session/entry.ts";
import { byNewest, type Snapshot } from "../../src/session/snapshot.ts";
import { claudeSource } from "../../src/sources/claude/source.ts";
import type { SourceReader } from "../../src/sources/source.ts";
import { statefileSource } from "../../src/sources/statefile/source.ts";
import { fixture } from "../support/fixtures.ts";
import { evidenceOf, readSource } from "../support/read-source.ts";
import { sessionOf } from "../support/sessions.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { treeHash } from "../support/tree-hash.ts";

const NOW = "2026-11-20T12:00:00.000Z";

interface Found {
  hits: SearchHit[];
  last: SearchProgress | null;
}

async function search(
  reader: SourceReader,
  snapshots: Iterable<Snapshot>,
  text: string,
  over: Partial<Parameters<typeof searchSessions>[0]> = {},
): Promise<Found> {
  const found: Found = { hits: [], last: null };
  const sessions = [...snapshots].sort(byNewest);
  for await (const event of searchSessions({ sessions, reader: () => reader, query: parseQuery(text), ...over })) {
    if (event.type === "hit") found.hits.push(event);
    else found.last = event;
  }
  return found;
}

/** The same by the slow way: every entry of every session, compared without the byte filter. */
async function allEntries(reader: SourceReader, key: string): Promise<Entry[]> {
  const transcript = await reader.transcript(key);
  const { entries } = await transcript.page({ view: "timeline", at: { edge: "start" }, limit: 100_000 });
  transcript.close();
  return entries;
}

const sizeOf = (dir: string): { files: string[]; bytes: number } => {
  const files = readdirSync(dir).map((name) => join(dir, name));
  return { files, bytes: files.reduce((sum, file) => sum + statSync(file).size, 0) };
};

/** A reader of invented sessions: their entries, oldest first, and nothing on disk. */
function inMemory(sessions: Record<string, (Partial<Entry> | Error)[]>): SourceReader {
  const refuse = (): never => {
    throw new Error("not asked for");
  };
  return {
    watched: () => [],
    scan: refuse,
    apply: refuse,
    tick: refuse,
    views: () => ["timeline"],
    document: refuse,
    requests: refuse,
    fork: null,
    resume: refuse,
    actions: () => [],
    close: async () => undefined,
    transcript: async (key) => ({
      close: () => undefined,
      page: async ({ at, limit }) => {
        const all = (sessions[key] ?? []).map((over, i) => {
          if (over instanceof Error) throw over;
          return { ...blankEntry({ ref: String(i + 1), n: i + 1, kind: "text" }), ...over };
        });
        const to = "before" in at ? Number(at.before) : all.length;
        const from = Math.max(0, to - limit);
        const edges = { atStart: from === 0, atEnd: to === all.length, total: null, nextUpto: null };
        return { entries: all.slice(from, to), before: String(from), after: String(to), ...edges };
      },
    }),
  };
}

describe("searching sessions", () => {
  it("finds in the real fixtures exactly the entries that hold a word, and changes nothing", async () => {
    const dir = fixture("statefile", "sessions");
    const before = treeHash(dir);
    const { reader, seen } = await readSource(statefileSource, [dir], evidenceOf(NOW));
    for (const word of ["error", "THE", "go"]) {
      const expected: string[] = [];
      for (const snapshot of [...seen.snapshots.values()].sort(byNewest)) {
        const entries = await allEntries(reader, snapshot.key);
        for (const entry of entries.reverse()) {
          const text = [entry.text ?? "", entry.call?.name ?? "", JSON.stringify(entry.call?.args ?? null)].join("\n");
          if (text.toLowerCase().includes(word.toLowerCase())) expected.push(`${snapshot.key} ${entry.ref}`);
        }
      }
      const { hits, last } = await search(reader, seen.snapshots.values(), word);
      expect(hits.map((hit) => `${hit.key} ${hit.ref}`)).toEqual(expected);
      expect(last).toMatchObject({ done: true, more: false, hits: expected.length, failed: [] });
    }
    expect(treeHash(dir)).toEqual(before);
  });

  it("finds what only a sub-agent said, and says whose conversation it is in", async () => {
    const { reader, seen } = await readSource(claudeSource, [fixture("claude", "home", ".claude")], evidenceOf(NOW));
    const withMembers = [...seen.snapshots.values()].find(({ key }) => (reader.members?.(key) ?? []).length > 0);
    const member = withMembers && reader.members?.(withMembers.key)[0];
    expect(member).toBeDefined();
    const transcript = await reader.transcript(withMembers?.key ?? "");
    const page = await transcript.page({
      view: "branch",
      of: member?.of ?? "",
      at: { edge: "start" },
      limit: 100,
    });
    const said = page.entries.find((entry) => /\w{6}/u.test(entry.text ?? ""));
    const phrase = (said?.text ?? "").split("\n")[0]?.replaceAll('"', " ") ?? "";
    const { hits } = await search(reader, seen.snapshots.values(), `"${phrase}"`);
    expect(hits).toContainEqual(
      expect.objectContaining({ key: withMembers?.key, view: "branch", of: member?.of, ref: said?.ref }),
    );
  });

  it("gives the newest session's newest entry first", async () => {
    const reader = inMemory({
      "statefile:old": [{ text: "hit 1" }],
      "statefile:new": [{ text: "hit 2" }, { text: "miss" }, { text: "hit 3" }],
    });
    const sessions = [
      sessionOf("old", { updatedAt: "2026-01-01T00:00:00.000Z" }),
      sessionOf("new", { updatedAt: "2026-02-01T00:00:00.000Z" }),
    ];
    const { hits } = await search(reader, sessions, "hit");
    expect(hits.map((hit) => `${hit.key} ${hit.n}`)).toEqual(["statefile:new 3", "statefile:new 1", "statefile:old 1"]);
  });

  it("looks into calls: the tool's name, names and values of arguments", async () => {
    const args = { path: "/srv/App.ts", port: 8080, nested: [{ deep: 'a "quoted" word' }] };
    const call = { id: "1", name: "write_file", args };
    const reader = inMemory({ "statefile:a": [{ kind: "call", call }] });
    for (const query of ["WRITE_file", "/srv/app.ts", "8080", "nested", '"a \\"quoted\\" word"', "port 8080"]) {
      expect((await search(reader, [sessionOf("a")], query)).hits, query).toHaveLength(1);
    }
    expect((await search(reader, [sessionOf("a")], "port:")).hits).toHaveLength(0);
  });

  it("stops at its limits and says that there may be more", async () => {
    const reader = inMemory({
      "statefile:a": Array.from({ length: 700 }, () => ({ text: "hit" })),
      "statefile:b": [{ text: "hit" }],
    });
    const sessions = [sessionOf("a"), sessionOf("b")];
    const limited = await search(reader, sessions, "hit", { limit: 300 });
    expect(limited.hits).toHaveLength(300);
    expect(limited.last).toMatchObject({ done: true, more: true });
    const each = await search(reader, sessions, "hit", { perSession: 2 });
    expect(each.hits.map((hit) => `${hit.key} ${hit.n}`)).toEqual([
      "statefile:a 700",
      "statefile:a 699",
      "statefile:b 1",
    ]);
    const exact = await search(reader, sessions, "hit", { limit: 701 });
    expect(exact.last).toMatchObject({ hits: 701, more: false });
  });

  it("goes on when a session cannot be read, and says which", async () => {
    const reader = inMemory({ "statefile:a": [new Error("no permission")], "statefile:b": [{ text: "hit" }] });
    const { hits, last } = await search(reader, [sessionOf("a"), sessionOf("b")], "hit");
    expect(hits).toHaveLength(1);
    expect(last?.failed).toEqual([{ key: "statefile:a", message: "no permission" }]);
  });

  it("ends when it is told to, and without any hit for an empty query", async () => {
    const reader = inMemory({ "statefile:a": Array.from({ length: 50 }, () => ({ text: "hit" })) });
    const stop = new AbortController();
    const hits: SearchHit[] = [];
    const request = { sessions: [sessionOf("a")], reader: () => reader, query: parseQuery("hit") };
    for await (const event of searchSessions({ ...request, signal: stop.signal })) {
      if (event.type === "hit" && hits.push(event) === 3) stop.abort();
    }
    expect(hits).toHaveLength(3);
    expect((await search(reader, [sessionOf("a")], '" "')).last).toMatchObject({ done: true, hits: 0, sessions: 0 });
  });
});

describe("the byte filter at scale", () => {
  it("reads every file once and no byte twice, here and in threads", async () => {
    const dir = temporaryDirectory();
    const { roots } = await makeCorpus({ dir, sessions: 120, bytes: 12_000_000 });
    const { files, bytes } = sizeOf(roots[0]?.path ?? "");
    const sized = files.map((path) => ({ path, bytes: statSync(path).size }));
    const patterns = [["zebrafish"]];

    const work = { ...fileWork };
    expect(await scanHere(patterns).passing(sized)).toEqual({ files: new Set(), bytes });
    expect(fileWork.opens - work.opens).toBe(files.length);
    expect(fileWork.bytesRead - work.bytesRead).toBe(bytes);

    const threads = scanInThreads(patterns, new AbortController().signal);
    expect(await threads.passing(sized)).toEqual({ files: new Set(), bytes });
    threads.close();

    const { reader, seen } = await readSource(statefileSource, [roots[0]?.path ?? ""], evidenceOf(NOW));
    const before = { ...fileWork };
    const { hits, last } = await search(reader, seen.snapshots.values(), "zebrafish");
    expect(hits).toEqual([]);
    expect(last).toMatchObject({ bytes, sessions: 120, of: 120, done: true });
    // Nothing passed, so no transcript was opened in this thread.
    expect(fileWork.bytesRead - before.bytesRead).toBe(0);
  });

  it("finds a text that lies across two reads", async () => {
    const dir = temporaryDirectory();
    const path = join(dir, "big");
    for (const at of [512 * 1024 - 4, 512 * 1024, 1024 * 1024 - 1]) {
      writeFileSync(path, `${"x".repeat(at)}zebrafish${"y".repeat(600_000)}`);
      expect((await scanHere([["zebrafish"]]).passing([{ path, bytes: 0 }])).files).toEqual(new Set([path]));
      expect((await scanHere([["zebrafish"], ["zy"]]).passing([{ path, bytes: 0 }])).files).toEqual(new Set());
    }
  });

  it("scans here what dead threads did not", async () => {
    const path = join(temporaryDirectory(), "file");
    writeFileSync(path, "zebrafish");
    const none = scanInThreads([["zebra"]], new AbortController().signal, new ScanPool([["zebra"]], 0));
    expect((await none.passing([{ path, bytes: 9 }])).files).toEqual(new Set([path]));
  });
});

describe("ripgrep", () => {
  /** A stand-in that notes its arguments and answers as it is told. */
  function fakeRipgrep(script: string): NodeJS.ProcessEnv {
    const bin = temporaryDirectory();
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "rg"), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, "rg"), 0o755);
    return { PATH: bin };
  }

  async function corpus(): Promise<{ reader: SourceReader; sessions: Snapshot[] }> {
    const dir = temporaryDirectory();
    const { roots } = await makeCorpus({ dir, sessions: 300, bytes: 3_000_000 });
    const { reader, seen } = await readSource(statefileSource, [roots[0]?.path ?? ""], evidenceOf(NOW));
    return { reader, sessions: [...seen.snapshots.values()] };
  }

  it("is used where there is one: what it does not name is not looked into", async () => {
    const { reader, sessions } = await corpus();
    const one = sessions[0];
    const env = fakeRipgrep(`for last; do case "$last" in ${one?.path}) printf '%s\\0' "$last";; esac; done`);
    const { hits } = await search(reader, sessions, "the", { env });
    expect(new Set(hits.map((hit) => hit.key))).toEqual(new Set([one?.key]));
  });

  it.each([
    ["fails", "exit 2"],
    ["dies", "kill -9 $$"],
    ["names other files", "printf 'elsewhere\\0'"],
  ])("is never relied on: when it %s, the files are scanned all the same", async (_, script) => {
    const { reader, sessions } = await corpus();
    const expected = await search(reader, sessions, "flaky");
    expect(expected.hits.length).toBeGreaterThan(0);
    expect((await search(reader, sessions, "flaky", { env: fakeRipgrep(script) })).hits).toEqual(expected.hits);
  });
});
