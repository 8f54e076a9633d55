import { appendFileSync, readFileSync, rmSync, statSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isoTime } from "../../../src/files/go-json.ts";
import { publicSnapshot } from "../../../src/session/snapshot.ts";
import { copyOfFixture, fixture } from "../../support/fixtures.ts";
import { makeDirectory, temporaryDirectory } from "../../support/temp.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { expected, ROOTS } from "./expected.ts";
import { editState, evidenceOf, FakeDaemon, Followed, listOf, socketDirectory } from "./fake-daemon.ts";

const NOWHERE = { TMPDIR: "/nowhere", PATH: "" };

function rootOf(state: unknown): string {
  const dir = temporaryDirectory();
  writeFileSync(join(dir, "state.json"), JSON.stringify(state));
  return dir;
}

describe("list --json of each root", () => {
  it.each(ROOTS)("%s equals EXPECTED.json, and not one byte or time changes", async (root) => {
    const dir = fixture("herrscher", root);
    const before = treeHash(dir);
    const followed = await new Followed(dir, NOWHERE).scan();
    expect(treeHash(dir)).toEqual(before);
    const rows = expected.roots[root]?.sessions ?? [];
    expect([...followed.shown.keys()]).toEqual(rows.map((row) => `herrscher:${row.name}`));
    for (const row of rows) {
      const shown = publicSnapshot(followed.get(row.name));
      const caps = row.caps as Record<string, number>;
      const cap = (value: number | undefined): number | null => value || null;
      const capped = Object.values(caps).some((value) => value !== 0) || row.pausedReason !== null;
      const damage = shown.damage.map((one) => one.kind);
      const status = row.status === "running" ? "stopped" : row.status;
      expect({ ...shown, usage: null, own: null, why: [], activity: null, damage: [] }).toEqual({
        ...shown,
        id: row.name,
        name: row.name,
        title: row.name,
        root: dir,
        path: join(dir, "transcripts", `${row.name}.jsonl`),
        native: row.status,
        status,
        certainty: "recorded",
        agent: row.agent,
        models: row.model === null ? [] : [row.model],
        cwd: row.dir,
        project: row.project,
        createdAt: isoTime(row.startedAt),
        updatedAt: isoTime(row.lastActivity),
        messages: row.entries,
        parent: row.parentExists === true ? { key: `herrscher:${row.parent}`, relation: "delegate" } : null,
        team: row.cohort === null ? null : { name: row.cohortRoot, members: row.cohort },
        budget: !capped
          ? null
          : {
              costCap: cap(caps.cost),
              tokenCap: cap(caps.tokens),
              cohortCostCap: cap(caps.cohortCost),
              cohortTokenCap: cap(caps.cohortTokens),
              pausedReason: row.pausedReason,
            },
        context: null,
        panes: [],
        usage: null,
        own: null,
        why: [],
        activity: null,
        damage: [],
      });
      if (!row.usageReported) expect(shown.usage).toBeNull();
      else {
        expect(shown.usage).toMatchObject({
          requests: row.turns,
          input: row.tokensIn,
          output: row.tokensOut,
          cacheRead: row.cacheRead,
          cacheWrite: row.cacheCreate,
        });
        expect(shown.usage?.cost).toBeCloseTo(Number(row.cost), 9);
      }
      expect(shown.own).toEqual(shown.usage);
      expect(damage.filter((kind) => kind === "dropped-line")).toHaveLength(row.droppedLines);
      expect(damage.includes("torn-tail")).toBe(row.tornTail);
      expect(shown.resume !== null).toBe(resumableByHand(row));
      const { extra } = followed.get(row.name);
      expect(extra).toMatchObject({
        vendor: row.vendorShown,
        effort: row.effort,
        incarnation: row.incarnation,
        resumable: row.resumable,
        legacy: row.isLegacy,
        participants: row.participants,
        gateways: row.gateways,
        cohortRoot: row.cohortRoot,
        depth: row.depth,
        children: row.children,
        parentExists: row.parentExists,
        tokens: row.tokens,
      });
    }
    const newest = [...followed.shown.values()]
      .sort((a, b) =>
        (a.updatedAt ?? "") < (b.updatedAt ?? "") ? 1 : (a.updatedAt ?? "") > (b.updatedAt ?? "") ? -1 : 0,
      )
      .map((one) => one.id);
    expect(newest).toEqual(expected.roots[root]?.defaultSort ?? []);
  });

  function resumableByHand(row: Record<string, unknown>): boolean {
    return row.resumable === true && row.dirAbsolute === true && row.backend !== "oneshot";
  }

  it("what is left out is said", async () => {
    const main = await new Followed(fixture("herrscher", "main"), NOWHERE).scan();
    expect(main.problems).toEqual([
      "orphan-transcript: transcripts/leftover.jsonl: no session of that name is left; not shown",
    ]);
    const broken = await new Followed(fixture("herrscher", "broken"), NOWHERE).scan();
    expect(broken.problems).toEqual(["bad-state: state.json is not valid JSON: herrscher refuses to start with it"]);
  });

  it("reading with a daemon behind the sockets changes nothing either", async () => {
    const dir = copyOfFixture("herrscher", "main");
    const tmp = socketDirectory();
    const daemon = await FakeDaemon.start(tmp, "studio", () => listOf(join(dir, "state.json")));
    const before = treeHash(dir);
    const followed = await new Followed(dir, { TMPDIR: tmp }).scan();
    for (const key of followed.shown.keys()) {
      for (const view of followed.reader.views(key)) {
        if (view !== "timeline") await followed.reader.document(key, view);
      }
      const transcript = await followed.reader.transcript(key);
      await transcript.page({ view: "timeline", at: { edge: "end" }, limit: 50 });
      await followed.reader.requests(key);
      await followed.reader.resume(key);
    }
    expect(treeHash(dir)).toEqual(before);
    expect(daemon.asked).toEqual([["session", "list", "--json"]]);
    expect(followed.get("main")).toMatchObject({ status: "idle", certainty: "guess", native: "running" });
    expect(followed.get("in-flight")).toMatchObject({ status: "working", certainty: "guess" });
    const later = { ...evidenceOf(), now: Date.parse("2026-08-05T16:31:04Z") };
    expect(followed.last?.recheckAt).toBe(later.now);
    followed.take(followed.reader.tick(later));
    expect(followed.get("in-flight")).toMatchObject({ status: "idle", certainty: "guess" });
    expect(followed.get("old-spike").status).toBe("archived");
    expect(followed.get("nightly-migration").status).toBe("paused");
  });
});

describe("rows that are not as they should be", () => {
  it("equal names, bad names, bad rows and cycles each have their own key and say what is wrong", async () => {
    const dir = rootOf({
      home: { id: "", type: "" },
      sessions: [
        {
          name: "a",
          parent: "b",
          channelID: "1",
          type: "text",
          cmd: "claude",
          gateways: ["terminal"],
          incarnation: "inc_1",
        },
        {
          name: "b",
          parent: "a",
          channelID: "1",
          type: "text",
          cmd: "claude",
          gateways: ["terminal"],
          incarnation: "inc_2",
        },
        { name: "a", parent: "b", channelID: "2", type: "text", cmd: "codex", incarnation: "inc_3" },
        { name: "../evil", channelID: "3" },
        { name: "self", parent: "self", cost_cap: -1, token_cap: 2 ** 60 },
        "not a row",
        { name: "\u001b[31mred", archived: "yes" },
        {},
        { name: "odd", cost_cap: "12", paused_reason: "solar_flare" },
      ],
    });
    makeDirectory(dir, "transcripts");
    writeFileSync(join(dir, "transcripts", "a.jsonl"), '{"ts":"2026-08-05T16:00:00Z","role":"assistant","cost":2}\n');
    writeFileSync(join(dir, "evil.jsonl"), '{"ts":"2026-08-05T16:00:00Z","role":"assistant","text":"stolen"}\n');
    const before = treeHash(dir);
    const followed = await new Followed(dir, NOWHERE).scan();
    expect(treeHash(dir)).toEqual(before);
    expect([...followed.shown.keys()]).toEqual(
      ["a", "b", "a#2", "../evil", "self", "#6", "·[31mred", "#8", "odd"].map((id) => `herrscher:${id}`),
    );
    expect(followed.get("a").parent).toBeNull(); // The cycle is cut at the row that comes first.
    expect(followed.get("b").parent).toEqual({ key: "herrscher:a", relation: "delegate" });
    expect(followed.get("self")).toMatchObject({
      parent: null,
      team: null,
      budget: { costCap: -1, tokenCap: 2 ** 60 },
    });
    const damage = Object.fromEntries(
      [...followed.shown.values()].map((one) => [one.id, one.damage.map((d) => d.kind)]),
    );
    expect(damage).toEqual({
      a: [],
      b: [],
      "a#2": ["duplicate-name"],
      "../evil": ["bad-name"],
      self: [],
      "#6": ["bad-row"],
      "·[31mred": ["bad-name", "bad-row"],
      "#8": ["bad-row"],
      odd: ["bad-row"],
    });
    expect(followed.get("../evil")).toMatchObject({ status: "unknown", messages: 0, title: "../evil" });
    expect(followed.get("a").own?.cost).toBe(2);
    expect(followed.get("a#2").usage?.cost).toBe(2);
    expect(followed.get("a#2").own).toMatchObject({ requests: 0, cost: null });
    expect(followed.get("a#2").why.at(-1)).toContain("legacy row");
    expect(followed.get("odd")).toMatchObject({ status: "paused", activity: "paused (other): solar_flare" });
    for (const snapshot of followed.shown.values()) {
      await followed.reader.document(snapshot.key, "info");
      const actions = followed.reader.actions(snapshot.key);
      if (snapshot.damage.some((one) => one.kind !== "bad-row") || snapshot.name === null) {
        expect(actions.every((action) => action.disabled !== null)).toBe(true);
        expect(snapshot.can).toEqual([]);
      }
    }
    await expect(followed.reader.transcript("herrscher:../evil")).rejects.toThrow(/damaged/u);
  });

  it("a state that cannot be parsed leaves the last good copy, and that is said", async () => {
    const dir = copyOfFixture("herrscher", "cwd-mode");
    const path = join(dir, "state.json");
    const followed = await new Followed(dir, NOWHERE).scan();
    const good = readFileSync(path, "utf8");
    writeFileSync(path, good.slice(0, 200));
    followed.take(await followed.reader.apply([path], evidenceOf()));
    expect(followed.shown.size).toBe(3);
    expect(followed.problems).toEqual(["bad-state: state.json is not valid JSON: the last good copy is shown"]);
    writeFileSync(path, good);
    followed.take(await followed.reader.apply([path], evidenceOf()));
    expect(followed.problems).toEqual([]);
  });

  it("a root that is not there is a problem only when it was asked for", async () => {
    const dir = join(temporaryDirectory(), "none");
    expect((await new Followed(dir, NOWHERE).scan()).problems).toEqual([`gone: ${dir}: no such directory`]);
    expect((await new Followed(dir, NOWHERE, false).scan()).problems).toEqual([]);
  });

  it("a second root has keys of its own", async () => {
    const dirs = [fixture("herrscher", "main"), fixture("herrscher", "cwd-mode")];
    const followed = await new Followed(dirs, NOWHERE).scan();
    expect(followed.get("herrscher@2:app").title).toBe("app");
    expect(followed.shown.size).toBe(27);
  });

  it("a transcript that is a link is left alone", async () => {
    const dir = copyOfFixture("herrscher", "cwd-mode");
    unlinkSync(join(dir, "transcripts", "app.jsonl"));
    symlinkSync("/etc/passwd", join(dir, "transcripts", "app.jsonl"));
    const followed = await new Followed(dir, NOWHERE).scan();
    expect(followed.get("app").messages).toBe(0);
    expect(followed.problems[0]).toMatch(/^not-regular: /u);
  });
});

describe("changes", () => {
  it("an append, a new row, a re-used name and a closed one are followed", async () => {
    const dir = copyOfFixture("herrscher", "cwd-mode");
    const statePath = join(dir, "state.json");
    const path = join(dir, "transcripts", "app.jsonl");
    const followed = await new Followed(dir, NOWHERE).scan();
    appendFileSync(path, '{"ts":"2026-08-06T08:00:00Z","role":"user","text":"next"}\n');
    const delta = followed.take(
      await followed.reader.apply([path, join(dir, "transcripts", "app.jsonl.tmp")], evidenceOf()),
    );
    expect(delta.changed.map((one) => one.id)).toEqual(["app"]);
    expect(followed.get("app")).toMatchObject({ messages: 3, updatedAt: "2026-08-06T08:00:00.000Z" });
    editState(statePath, (sessions) => [
      ...sessions,
      { name: "new", channelID: "terminal/new", type: "text", cmd: "codex", parent: "app" },
    ]);
    followed.take(await followed.reader.apply([statePath], evidenceOf()));
    expect(followed.get("new").parent?.key).toBe("herrscher:app");
    expect(followed.get("app").team?.members).toEqual(["app", "new"]);
    editState(statePath, (sessions) => sessions.filter((row) => row.name !== "app"));
    rmSync(path);
    const closed = followed.take(await followed.reader.apply([statePath, path], evidenceOf()));
    expect(closed.removed).toEqual(["herrscher:app"]);
    expect(followed.get("new")).toMatchObject({ parent: null, team: null });
    expect((await followed.reader.apply([join(dir, "elsewhere")], evidenceOf())).changed).toEqual([]);
    expect(followed.reader.tick(evidenceOf()).changed).toEqual([]);
  });

  it("only what a reader needs is watched", () => {
    const [watched] = new Followed("/r", NOWHERE).reader.watched();
    const matters = (path: string): boolean => watched?.matters(join("/r", path)) ?? false;
    const yes = ["state.json", ".state.json.lock", "transcripts/a.jsonl", "participants/a.log"];
    const no = [
      "state.json.tmp",
      "transcripts/a.jsonl.tmp",
      "transcripts/../x.jsonl",
      "transcripts/.a.jsonl",
      "herrscher.env",
      "serve.log",
      "agents/a/SOUL.md",
    ];
    expect(yes.filter((path) => !matters(path))).toEqual([]);
    expect(no.filter(matters)).toEqual([]);
  });

  it("what a compaction takes away is said, and the totals are of what remains", async () => {
    const dir = copyOfFixture("herrscher", "main");
    const path = join(dir, "transcripts", "nightly-migration.jsonl");
    const followed = await new Followed(dir, NOWHERE).scan();
    const lines = readFileSync(path, "utf8").split("\n");
    writeFileSync(`${path}.new`, `${lines.slice(4, 8).join("\n")}\n`);
    rmSync(path);
    writeFileSync(path, readFileSync(`${path}.new`));
    followed.take(await followed.reader.apply([path], evidenceOf()));
    const shown = followed.get("nightly-migration");
    expect(shown.messages).toBe(4);
    expect(shown.usage?.cost).toBeCloseTo(0.8, 9);
    expect(shown.extra.fellAway).toMatchObject({ entries: 4 });
    expect(shown.why[1]).toContain("no longer reached");
    const usage = await followed.reader.document(shown.key, "usage");
    expect(JSON.stringify(usage)).toContain("at least 4 older entries fell away");
  });
});

describe("documents and requests", () => {
  it("requests add up to the row's usage", async () => {
    const followed = await new Followed(fixture("herrscher", "main"), NOWHERE).scan();
    for (const snapshot of followed.shown.values()) {
      const requests = await followed.reader.requests(snapshot.key);
      expect(requests).toHaveLength(snapshot.usage?.requests ?? 0);
      expect(new Set(requests.map((request) => request.key)).size).toBe(requests.length);
      expect(requests.reduce((sum, request) => sum + request.output, 0)).toBe(snapshot.usage?.output ?? 0);
    }
  });

  it("the cohort is a tree in which nobody stands twice, with its totals", async () => {
    const followed = await new Followed(fixture("herrscher", "main"), NOWHERE).scan();
    const team = await followed.reader.document("herrscher:auth-refactor-reviewer", "team");
    const tree = team.blocks.find((block) => block.type === "tree");
    expect(tree?.items.map((item) => [item.depth, item.label])).toEqual([
      [0, "auth-refactor"],
      [1, "auth-refactor-codex"],
      [1, "auth-refactor-reviewer (this one)"],
      [2, "auth-refactor-reviewer-tester"],
    ]);
    expect(JSON.stringify(team)).toContain("≥ $0.88; 2 turns reported nothing");
  });

  it("a vendor that reports nothing is a dash, never a zero", async () => {
    const followed = await new Followed(fixture("herrscher", "main"), NOWHERE).scan();
    const text = JSON.stringify(await followed.reader.document("herrscher:auth-refactor-codex", "usage"));
    expect(text).toContain('"label":"cost","value":"–"');
    expect(text).not.toContain("$0");
    expect(statSync(followed.get("auth-refactor-codex").path).isFile()).toBe(true);
  });
});
