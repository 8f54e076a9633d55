import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { LocalFoldedFiles } from "../../../src/files/folded-files.ts";
import { noEvidence } from "../../../src/probe/evidence.ts";
import type { Problem } from "../../../src/session/problem.ts";
import type { Snapshot } from "../../../src/session/snapshot.ts";
import type { Delta, Page, SourceReader } from "../../../src/sources/source.ts";
import { encode, type StateRecord } from "../../../src/sources/statefile/index.ts";
import { statefileSource } from "../../../src/sources/statefile/source.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { expected, sessionsDirectory } from "./expected.ts";

const LATER = Date.parse("2026-11-01T00:00:00Z");

/** Old mtimes: fresh writes would make an open session look like work in progress. */
function aged(dir: string): string {
  for (const id of Object.keys(expected.sessions)) utimesSync(join(dir, `${id}.state`), 1_790_000_000, 1_790_000_000);
  return dir;
}

function open(dir: string, copied: Record<string, string> = {}): SourceReader {
  const root = { source: "statefile", index: 1, path: dir, explicit: true };
  return statefileSource.open([root], {
    files: new LocalFoldedFiles(),
    env: {},
    seen: () => null,
    copiedFrom: (key) => copied[key] ?? null,
    directories: () => [],
  });
}

interface Seen {
  sessions: Map<string, Snapshot>;
  problems: Problem[];
  deltas: Delta[];
}

async function scan(reader: SourceReader, now = LATER): Promise<Seen> {
  const seen: Seen = { sessions: new Map(), problems: [], deltas: [] };
  for await (const delta of reader.scan(noEvidence(now))) take(seen, delta);
  return seen;
}

function take(seen: Seen, delta: Delta): Delta {
  for (const one of delta.changed) seen.sessions.set(one.key, one);
  for (const key of delta.removed) seen.sessions.delete(key);
  if (delta.problems !== null) seen.problems = delta.problems;
  seen.deltas.push(delta);
  return delta;
}

const step = (n: number): StateRecord => ({
  n,
  kind: "message",
  id: "0000abcd",
  time: "2026-10-31T23:59:00Z",
  len: 0,
  type: "text/plain",
  via: "cli",
  body: Buffer.from("One more thing"),
});

const STATUS: Record<string, string> = { open: "open", closed: "idle", interrupted: "interrupted", failed: "failed" };

describe("the list", () => {
  test("every session of the oracle, and no other, with its status, title, usage and damage", async () => {
    const { sessions } = await scan(open(aged(sessionsDirectory())));
    const all = Object.entries(expected.sessions).filter(([, one]) => one.is_session);
    expect([...sessions.values()].map((one) => one.id).sort()).toEqual(all.map(([id]) => id).sort());
    for (const [id, one] of all) {
      const row = sessions.get(`statefile:${id}`);
      expect(row).toMatchObject({
        native: one.status,
        status: STATUS[one.status ?? ""],
        certainty: "recorded",
        messages: one.kinds.message ?? 0,
        context: { used: one.prompt_tokens, limit: one.context_limit },
        usage: {
          requests: one.steps,
          input: one.totals.input,
          output: one.totals.output,
          cacheRead: one.totals.cache_read,
          cacheWrite: one.totals.cache_write,
          cost: null,
        },
      });
      expect(row?.why[0]).not.toBe("");
      expect(row?.damage.map((damage) => damage.kind)).toEqual([
        ...one.anomalies,
        ...(one.tail === "clean" ? [] : [one.tail]),
      ]);
      expect(row?.title).toBe(one.first_message?.split("\n")[0]?.trim() || id);
    }
  });

  test("sorted by what was updated last it is the order of the tool", async () => {
    const { sessions } = await scan(open(aged(sessionsDirectory())));
    const time = (id: string): string => sessions.get(`statefile:${id}`)?.updatedAt ?? "";
    const times = expected.order_newest_updated_first.map(time);
    expect(times).toEqual([...times].sort().reverse());
  });

  test("links, FIFOs and what cannot be read are problems or ignored; nothing hangs, nothing is followed", async () => {
    const dir = aged(sessionsDirectory());
    execFileSync("mkfifo", [join(dir, "f1f0f1f0.state")]);
    const { sessions, problems } = await scan(open(dir));
    for (const id of ["f1f0f1f0", "5ca1ab1e", "d1ec70a7"]) {
      expect(sessions.has(`statefile:${id}`)).toBe(false);
      expect(problems.find((one) => one.path.endsWith(`${id}.state`))?.kind).toBe("not-regular");
    }
    expect(problems.find((one) => one.path.endsWith("6d4611ef.state"))?.kind).toBe("empty");
    expect(problems.filter((one) => one.kind === "damaged")).toHaveLength(5);
  });

  test("a file without read permission is a problem that says what to do", async () => {
    if (process.getuid?.() === 0) return; // root may read everything
    const dir = aged(sessionsDirectory());
    chmodSync(join(dir, "f63d8735.state"), 0);
    const { problems } = await scan(open(dir));
    expect(problems.find((one) => one.path.endsWith("f63d8735.state"))).toMatchObject({ kind: "unreadable" });
  });

  test("a directory that is not there is a problem when it was asked for", async () => {
    const { problems, sessions } = await scan(open("/nowhere/at/all"));
    expect(sessions.size).toBe(0);
    expect(problems[0]).toMatchObject({ kind: "gone", path: "/nowhere/at/all" });
  });

  test("reading changes no byte, mode or time", async () => {
    const dir = aged(sessionsDirectory());
    const before = treeHash(dir);
    const reader = open(dir);
    const { sessions } = await scan(reader);
    for (const key of sessions.keys()) {
      const transcript = await reader.transcript(key);
      await transcript.page({ view: "context", at: { edge: "start" }, limit: 100 });
      transcript.close();
      for (const view of ["usage", "info"] as const) await reader.document(key, view);
      await reader.fork?.plan(key, null);
    }
    expect(treeHash(dir)).toEqual(before);
  });
});

describe("copies", () => {
  test("steps of a copied prefix are owned once, whatever the order of reading", async () => {
    const { sessions } = await scan(open(aged(sessionsDirectory())));
    const family = ["c5536e71", "761f48db", "cc9bf5a0"].map((id) => sessions.get(`statefile:${id}`));
    const own = family.reduce((sum, one) => sum + (one?.own?.requests ?? 0), 0);
    const longest = Math.max(...family.map((one) => one?.usage?.requests ?? 0));
    expect(own).toBe(longest);
    expect(family.filter((one) => one?.parent === null)).toHaveLength(1);
  });

  test("what we copied ourselves is known by our own memory", async () => {
    const copied = { "statefile:c5536e71": "statefile:761f48db" };
    const { sessions } = await scan(open(aged(sessionsDirectory()), copied));
    expect(sessions.get("statefile:c5536e71")?.parent?.key).not.toBe("statefile:c5536e71");
  });
});

describe("following", () => {
  test("an append changes that session only, and a guess of work runs out by the clock alone", async () => {
    const dir = aged(sessionsDirectory());
    const reader = open(dir);
    const seen = await scan(reader);
    const path = join(dir, "f63d8735.state");
    appendFileSync(path, encode(step((expected.sessions.f63d8735?.records ?? 0) + 1)));
    utimesSync(path, LATER / 1000 - 10, LATER / 1000 - 10);
    const delta = take(seen, await reader.apply([path], noEvidence(LATER)));
    expect(delta.changed.map((one) => one.id)).toEqual(["f63d8735"]);
    expect(seen.sessions.get("statefile:f63d8735")).toMatchObject({
      status: "working",
      certainty: "guess",
      native: "open",
      activity: "One more thing",
    });
    expect(delta.recheckAt).toBe(LATER - 10_000 + 5 * 60_000);
    expect(reader.tick(noEvidence(LATER + 60_000)).changed).toEqual([]);
    const after = take(seen, reader.tick(noEvidence((delta.recheckAt ?? 0) + 1)));
    expect(after.changed[0]).toMatchObject({ status: "open", certainty: "recorded" });
    expect(after.recheckAt).toBeNull();
  });

  test("an event without a change yields nothing; unchanged sessions are not repeated", async () => {
    const dir = aged(sessionsDirectory());
    const reader = open(dir);
    await scan(reader);
    const paths = Object.keys(expected.sessions).map((id) => join(dir, `${id}.state`));
    expect(await reader.apply(paths, noEvidence(LATER))).toMatchObject({ changed: [], removed: [], problems: null });
  });

  test("a file replaced by rename is read anew, one that goes away is removed", async () => {
    const dir = aged(sessionsDirectory());
    const reader = open(dir);
    const seen = await scan(reader);
    const path = join(dir, "f63d8735.state");
    writeFileSync(join(dir, "x.tmp"), readFileSync(join(dir, "7f8e4fc1.state")));
    renameSync(join(dir, "x.tmp"), path);
    utimesSync(path, 1_790_000_000, 1_790_000_000);
    take(seen, await reader.apply([path], noEvidence(LATER)));
    expect(seen.sessions.get("statefile:f63d8735")?.status).toBe("failed");
    rmSync(path);
    const gone = take(seen, await reader.apply([path], noEvidence(LATER)));
    expect(gone.removed).toEqual(["statefile:f63d8735"]);
  });

  test("a new file is not announced before it is a session, or has been there for a second", async () => {
    const dir = aged(sessionsDirectory());
    const reader = open(dir);
    const seen = await scan(reader);
    const path = join(dir, "0badf00d.state");
    writeFileSync(path, readFileSync(join(dir, "1bb65665.state")));
    const mtimeMs = statSync(path).mtimeMs;
    const early = take(seen, await reader.apply([path], noEvidence(mtimeMs + 10)));
    expect(early.changed).toEqual([]);
    expect(early.recheckAt).toBe(mtimeMs + 1000);
    const late = take(seen, reader.tick(noEvidence(mtimeMs + 1001)));
    expect(late.changed[0]).toMatchObject({ id: "0badf00d" });
  });
});

describe("the transcript", () => {
  const whole = { at: { edge: "start" }, limit: 1000 } as const;

  test.each(Object.entries(expected.sessions).filter(([, one]) => one.is_session))(
    "%s: timeline in file order, context in the model's order, as the oracle says",
    async (id, one) => {
      const reader = open(aged(sessionsDirectory()));
      await scan(reader);
      const transcript = await reader.transcript(`statefile:${id}`);
      const timeline = await transcript.page({ view: "timeline", ...whole });
      expect(timeline.entries.map((entry) => entry.n)).toEqual(one.record_table.map((record) => record.n));
      const dropped = new Set(one.unclosed_blocks);
      for (const entry of timeline.entries) {
        const never = entry.kind === "start" || entry.kind === "config";
        if (one.reference.read === "ok") expect(entry.inContext).toBe(!never && !dropped.has(entry.n));
        expect(entry.forkable).toBe(one.cuts[entry.n - 1]?.allowed ?? false);
      }
      const context = await transcript.page({ view: "context", ...whole });
      expect(context.entries.map((entry) => entry.n)).toEqual(one.build);
      expect(context.nextUpto).toBe(one.next_upto);
    },
  );

  test("pages walk the whole in both directions, and unchanged entries keep their objects", async () => {
    const reader = open(aged(sessionsDirectory()));
    await scan(reader);
    const transcript = await reader.transcript("statefile:c5536e71");
    const all = await transcript.page({ view: "timeline", ...whole });
    const forwards: number[] = [];
    let page: Page = await transcript.page({ view: "timeline", at: { edge: "start" }, limit: 4 });
    for (;;) {
      forwards.push(...page.entries.map((entry) => entry.n));
      if (page.atEnd) break;
      page = await transcript.page({ view: "timeline", at: { after: page.after }, limit: 4 });
    }
    const backwards: number[] = [];
    page = await transcript.page({ view: "timeline", at: { edge: "end" }, limit: 4 });
    for (;;) {
      backwards.unshift(...page.entries.map((entry) => entry.n));
      if (page.atStart) break;
      page = await transcript.page({ view: "timeline", at: { before: page.before }, limit: 4 });
    }
    expect(forwards).toEqual(all.entries.map((entry) => entry.n));
    expect(backwards).toEqual(forwards);
    const again = await transcript.page({ view: "timeline", ...whole });
    expect(again.entries.every((entry, at) => entry === all.entries[at])).toBe(true);
  });

  test("a binary body is its type and size, never its bytes", async () => {
    const dir = aged(sessionsDirectory());
    const body = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0a, 0x00, 0xff]);
    const picture = { ...step(6), type: "image/png", body };
    appendFileSync(join(dir, "57a80d51.state"), encode(picture));
    const reader = open(dir);
    await scan(reader);
    const transcript = await reader.transcript("statefile:57a80d51");
    const { entries } = await transcript.page({ view: "timeline", ...whole });
    expect(entries.at(-1)).toMatchObject({ kind: "message", text: null, media: { type: "image/png", bytes: 7 } });
  });

  test("a text beyond the limit is clipped and says by how much", async () => {
    const reader = open(aged(sessionsDirectory()));
    await scan(reader);
    const transcript = await reader.transcript("statefile:c5536e71");
    const { entries } = await transcript.page({ view: "timeline", ...whole, textLimit: 10 });
    const system = entries.find((entry) => entry.kind === "system");
    expect(system?.text).toHaveLength(10);
    expect(system?.clipped).toBe((expected.sessions.c5536e71?.record_table[2]?.len ?? 0) - 10);
  });
});
