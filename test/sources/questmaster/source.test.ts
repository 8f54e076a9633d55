import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { noEvidence } from "../../../src/probe/evidence.ts";
import { hookRoot } from "../../../src/sources/questmaster/hook-root.ts";
import {
  manifestText,
  newManifest,
  newPaneState,
  newSessionState,
  type PaneState,
  sessionStateText,
  setExtra,
} from "../../../src/sources/questmaster/index.ts";
import { questmasterSource } from "../../../src/sources/questmaster/source.ts";
import { fixture } from "../../support/fixtures.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { type ExpectedSession, expected, referenceNow, stateRootCopy } from "./expected.ts";
import { evidenceOf, paneOf, Reading } from "./reading.ts";

const NOW = "2026-07-20T12:00:00Z";
const UUID = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const visible = Object.values(expected.sessions).filter((one) => one.recommended.visible);

const STATUS: Record<string, string> = { "needs-input": "needs-input", error: "failed" };

/** Design §3's mapping of the tracker's states. */
function wantedStatus({ recommended: { state = "", attention = "" } }: ExpectedSession): string {
  return (
    STATUS[attention] ??
    { starting: "idle", working: "working", done: "done", idle: "idle", stopped: "stopped" }[state] ??
    "unknown"
  );
}

interface Made {
  title?: string;
  parent?: string;
  type?: "master";
  workers?: string[];
  cwd?: string;
  extra?: Record<string, string>;
  agent?: string | null;
  pane?: Partial<PaneState> | null;
  state?: string;
}

function make(root: string, id: string, made: Made = {}): void {
  const manifest = newManifest(id, {
    title: made.title ?? id,
    createdAt: NOW,
    cwd: made.cwd ?? "/w",
    sessionType: made.type ?? "",
    workers: made.workers ?? [],
  });
  if (made.agent !== null) {
    manifest.agents.push({
      name: made.agent ?? "claude",
      role: "primary",
      cli: "x",
      resumeID: "",
      window: 0,
      extra: new Map(),
    });
  }
  if (made.parent) setExtra(manifest, "parent_session", made.parent);
  for (const [key, value] of Object.entries(made.extra ?? {})) setExtra(manifest, key, value);
  writeFileSync(join(root, `${id}.json`), manifestText(manifest));
  if (made.pane !== null || made.state !== undefined) writeState(root, id, made.pane ?? {}, made.state);
}

function writeState(root: string, id: string, pane: Partial<PaneState>, text?: string): string {
  mkdirSync(join(root, id), { recursive: true });
  const state = newSessionState(id);
  const base = { state: "working", seq: 1n, lastEvent: NOW, lastKind: "PreToolUse", activity: "Bash: make" };
  state.panes.set("primary", { ...newPaneState("primary", "claude"), ...base, ...pane });
  const path = join(root, id, "state.json");
  writeFileSync(`${path}.new`, text ?? sessionStateText(state));
  renameSync(`${path}.new`, path);
  return path;
}

describe("the fixtures", () => {
  it("give a row to every session that should be visible, and to no other", async () => {
    const reading = await new Reading(stateRootCopy()).scan();
    expect([...reading.rows.keys()].sort()).toEqual(visible.map((one) => `questmaster:${one.id}`).sort());
  });

  const scanned = new Reading(fixture("questmaster", "state")).scan();

  it.each(visible)("$id is shown as recommended", async (session) => {
    const reading = await scanned;
    const row = reading.row(session.id);
    const pane = session.panes.find((one) => one.role === "primary");
    expect({
      title: row.title,
      native: row.native,
      status: row.status,
      activity: row.activity ?? "",
      cwd: row.cwd,
      parent: row.parent,
      agent: row.agent,
      messages: row.messages,
      usage: row.usage,
      createdAt: row.createdAt,
      resume: row.resume?.argv.at(-1) ?? null,
      stale: row.extra.stale,
      word: row.extra.word,
      attention: row.extra.attention,
      ghosts: row.extra.ghosts,
    }).toEqual({
      title: session.display_title,
      native: session.recommended.state,
      status: wantedStatus(session),
      activity: session.recommended.activity,
      cwd: session.cwd || null,
      parent: session.parent === null ? null : { key: `questmaster:${session.parent}`, relation: "worker" },
      agent: pane?.agent ?? (session.primary_agent || null),
      messages: 0,
      usage: null,
      createdAt: session.created_at === null ? null : new Date(session.created_at).toISOString(),
      resume: session.effective_resume_id ?? null,
      stale: session.recommended.stale,
      word: session.recommended.word,
      attention: session.recommended.attention,
      ghosts: session.workers.filter((id) => expected.sessions[id] === undefined),
    });
    const panes = row.panes.map(({ role, agent, state, activity, tool }) => [role, agent, state, activity ?? "", tool]);
    const wanted = session.panes.map((one) => [one.role, one.agent, one.state, one.activity, one.tool]);
    expect(panes.sort()).toEqual(wanted.sort());
    expect(row.why.length).toBeGreaterThan(0);
    expect(row.livePane === null).toBe(!session.live);
    expect(row.extra.seenMark).toBe(pane?.seq ?? null);
  });

  it("report what is damaged or passed over", async () => {
    const { problems } = await new Reading(stateRootCopy()).scan();
    expect(problems.map(({ path, kind }) => [path.split("/").at(-1), kind])).toEqual([
      ["copy", "no-manifest"],
      ["party-1784541120.json", "bad-manifest"],
      ["party-1784541180.json", "bad-manifest"],
      ["party-1784541300.json", "not-regular"],
      ["state.json", "foreign-version"],
      ["party-bad name.json", "bad-id"],
    ]);
  });

  it("are not changed by reading every view of every session", async () => {
    const root = stateRootCopy();
    const before = treeHash(root);
    const { reader, rows } = await new Reading(root).scan();
    for (const key of rows.keys()) {
      for (const view of reader.views(key)) await reader.document(key, view);
      await reader.resume(key);
      reader.actions(key);
      await reader.requests(key);
    }
    expect(treeHash(root)).toEqual(before);
  });
});

describe("when tmux", () => {
  it("does not answer, rows are unknown and say why, once each", async () => {
    const evidence = {
      ...noEvidence(referenceNow),
      failures: [{ probe: "tmux" as const, message: "tmux did not answer" }],
    };
    const reading = await new Reading(stateRootCopy()).scan(evidence);
    for (const row of reading.rows.values()) {
      const ended = row.panes.find((pane) => pane.role === "primary")?.state === "stopped";
      expect(row.status).toBe(ended ? "stopped" : "unknown");
      expect(row.why).toContain("tmux did not answer");
    }
    expect(reading.problems.some((one) => /tmux did not/u.test(one.message))).toBe(false);
    expect(reading.tick(evidence).changed).toEqual([]);
  });

  it("has no server, rows are stopped", async () => {
    const reading = await new Reading(stateRootCopy()).scan(evidenceOf([]));
    expect(new Set([...reading.rows.values()].map((row) => row.status))).toEqual(new Set(["stopped"]));
  });

  it("keeps the pane of an agent that exited while working, the row is stopped; a finished one stays done", async () => {
    const root = temporaryDirectory();
    make(root, "qm-1");
    make(root, "qm-2", { pane: { state: "done" } });
    const panes = [paneOf("qm-1", { dead: true }), paneOf("qm-2", { dead: true })];
    const evidence = { ...evidenceOf(), tmux: { panes, sessions: new Set(["qm-1", "qm-2"]), server: true } };
    const reading = await new Reading(root).scan(evidence);
    expect([reading.row("qm-1").status, reading.row("qm-2").status]).toEqual(["stopped", "done"]);
  });

  it("holds a session whose name only begins like the id, the row is stopped", async () => {
    const root = temporaryDirectory();
    make(root, "qm-1");
    expect((await new Reading(root).scan(evidenceOf(["qm-1-77"]))).row("qm-1").status).toBe("stopped");
  });
});

describe("a row", () => {
  it.each([
    [{ state: "blocked", lastKind: "session.error", activity: "Error: quota" }, "failed", "Error: quota"],
    [{ state: "blocked", lastKind: "Notification", activity: "Error: x" }, "failed", "Error: x"],
    [
      { state: "blocked", lastKind: "permission.asked", activity: "Permission: bash" },
      "needs-input",
      "Permission: bash",
    ],
    [{ state: "idle", activity: "All tidy." }, "idle", "All tidy."],
    [{ state: "stopped" }, "stopped", "Bash: make"],
    [{ state: "dreaming" }, "unknown", "Bash: make"],
    [{ state: "" }, "unknown", null],
    [{ state: "starting", activity: "starting…" }, "idle", "started"],
  ])("with the pane %j is %s", async (pane, status, activity) => {
    const root = temporaryDirectory();
    make(root, "qm-1", { pane });
    const row = (await new Reading(root).scan(evidenceOf(["qm-1"]))).row("qm-1");
    expect([row.status, row.activity]).toEqual([status, activity]);
  });

  it("with a torn state is unknown, damaged and a problem", async () => {
    const root = temporaryDirectory();
    make(root, "qm-1", { state: '{"session_id":"qm-1","panes":{"prim' });
    const reading = await new Reading(root).scan(evidenceOf(["qm-1"]));
    expect(reading.row("qm-1")).toMatchObject({ status: "unknown", damage: [{ kind: "state" }] });
    expect(reading.problems.map((one) => one.kind)).toEqual(["bad-state"]);
  });

  it("that is done becomes idle when the person looks, and done again with the next event", async () => {
    const root = temporaryDirectory();
    make(root, "qm-1", { pane: { state: "done", seq: 1784548625123456789n } });
    const evidence = evidenceOf(["qm-1"]);
    const reading = await new Reading(root).scan(evidence);
    expect(reading.row("qm-1").status).toBe("done");
    reading.seen.set("questmaster:qm-1", String(reading.row("qm-1").extra.seenMark));
    reading.tick(evidence);
    expect(reading.row("qm-1").status).toBe("idle");
    await reading.apply([writeState(root, "qm-1", { state: "done", seq: 1784548625123456790n })], evidence);
    expect(reading.row("qm-1").status).toBe("done");
  });

  it("that a tracker looked at after its last event is idle", async () => {
    const root = temporaryDirectory();
    make(root, "qm-1", { pane: null });
    const text = `{"session_id":"qm-1","version":1,"panes":{"primary":{"role":"primary","agent":"claude","state":"done","activity":"","seq":1,"last_event":"2026-07-20T12:00:00.5Z","last_kind":"Stop"}},"seen_at":"2026-07-20T12:00:00.500000001Z"}`;
    writeState(root, "qm-1", {}, text);
    expect((await new Reading(root).scan(evidenceOf(["qm-1"]))).row("qm-1").status).toBe("idle");
  });

  it("that works without a tool becomes stale by the clock alone, exactly once", async () => {
    const root = temporaryDirectory();
    make(root, "qm-1", { pane: { state: "working", tool: "" } });
    const reading = await new Reading(root).scan(evidenceOf(["qm-1"]));
    expect(reading.last?.recheckAt).toBe(referenceNow + 60_001);
    expect(reading.tick(evidenceOf(["qm-1"], referenceNow + 60_000)).changed).toEqual([]);
    const delta = reading.tick(evidenceOf(["qm-1"], referenceNow + 60_001));
    expect(delta.changed.map((row) => [row.extra.stale, row.certainty, row.status])).toEqual([
      [true, "guess", "working"],
    ]);
    expect(delta.recheckAt).toBeNull();
    expect(reading.tick(evidenceOf(["qm-1"], referenceNow + 90_000)).changed).toEqual([]);
  });

  it("never shows a message part whose author is unknown", async () => {
    const root = temporaryDirectory();
    make(root, "qm-1", { pane: { pendingPartMsgID: "m", pendingPartText: "SECRET PROMPT" } });
    const { reader, rows } = await new Reading(root).scan(evidenceOf(["qm-1"]));
    const shown = JSON.stringify([...rows.values(), await reader.document("questmaster:qm-1", "info")]);
    expect(shown).not.toContain("SECRET PROMPT");
  });

  it("strips what a terminal would obey from every string", async () => {
    const root = temporaryDirectory();
    const evil = "a\u001b]0;x\u0007\u202eb\r\nc";
    make(root, "qm-1", {
      title: evil,
      agent: evil,
      pane: { state: evil, activity: evil, tool: evil, agent: evil, lastKind: evil, recent: [evil] },
    });
    const { reader, rows } = await new Reading(root).scan(evidenceOf(["qm-1"]));
    const text = JSON.stringify([...rows.values(), await reader.document("questmaster:qm-1", "info")], (key, value) =>
      key === "resume" || key === "links" ? null : value,
    );
    expect(text).not.toMatch(/\\u001b|\\u0007|\u202e|\\r/u);
  });

  it("links to the conversation of its agent, so that both rows are joined", async () => {
    const reading = await new Reading(stateRootCopy()).scan();
    expect(reading.row("qm-1784547000").links).toEqual([
      { source: "claude", id: "3a3a0000-0000-4000-8000-000000000001" },
    ]);
    expect(reading.row("qm-1784547360").links).toEqual([{ source: "pi", id: "11111111-2222-4333-8444-555555555555" }]);
    expect(reading.row("party-1784544840").links).toEqual([]);
  });

  it.each([
    ["claude", { claude_session_id: "a-1" }, ["claude", "--resume", "a-1"]],
    ["codex", { codex_thread_id: "b-1" }, ["codex", "resume", "b-1"]],
    ["pi", { pi_session_id: "c-1" }, ["pi", "--session", "c-1"]],
    ["opencode", { opencode_session_id: "ses_d" }, ["opencode", "--session", "ses_d"]],
    ["claude", { claude_session_id: "a.b" }, null],
    ["claude", { claude_session_id: "" }, null],
    ["claude", { codex_thread_id: "b-1" }, null],
    ["stub", { claude_session_id: "a-1" }, null],
  ])("of %s with %j is resumed by %j in its directory", async (agent, extra, argv) => {
    const root = temporaryDirectory();
    make(root, "qm-1", { agent, extra, pane: null });
    const { reader, row } = await new Reading(root)
      .scan(evidenceOf([]))
      .then((one) => ({ reader: one.reader, row: one.row("qm-1") }));
    expect(row.resume).toEqual(argv === null ? null : { argv, cwd: "/w" });
    const answer = await reader.resume(row.key);
    expect(answer.ok).toBe(argv !== null);
  });

  it.each([
    [{ piSessionID: UUID }, 1, UUID],
    [{ piSessionID: "no-uuid", sessionFile: `/s/2026-07-20T11-05-31-412Z_${UUID}.jsonl` }, 1, UUID],
    [{ sessionFile: `/s/${UUID}.jsonl` }, 1, null],
    [{ piSessionID: "" }, 1, null],
    [{ piSessionID: UUID }, 2, null],
  ])(
    "of pi without an id in its manifest takes it from the pane %j of a state of version %i",
    async (pane, version, id) => {
      const root = temporaryDirectory();
      make(root, "qm-1", { agent: "pi", pane: null });
      const state = newSessionState("qm-1");
      state.panes.set("primary", { ...newPaneState("primary", "pi"), state: "done", ...pane });
      writeState(root, "qm-1", {}, sessionStateText({ ...state, version }));
      const row = (await new Reading(root).scan(evidenceOf([]))).row("qm-1");
      expect(row.resume?.argv ?? null).toEqual(id === null ? null : ["pi", "--session", id]);
    },
  );

  it.each([
    [{ piSessionID: UUID }, 1, UUID],
    [{ sessionFile: `/s/2026-07-20T11-05-31-412Z_${UUID}.jsonl` }, 1, UUID],
    [{ agent: "", piSessionID: UUID }, 1, UUID],
    [{ piSessionID: "no-uuid" }, 1, "old"],
    [{ piSessionID: UUID }, 2, "old"],
  ])(
    "of pi with an older id in its manifest takes the newer one from the pane %j of a state of version %i",
    async (pane, version, id) => {
      const root = temporaryDirectory();
      make(root, "qm-1", { agent: "pi", pane: null, extra: { pi_session_id: "old" } });
      const state = newSessionState("qm-1");
      state.panes.set("primary", { ...newPaneState("primary", "pi"), state: "done", ...pane });
      writeState(root, "qm-1", {}, sessionStateText({ ...state, version }));
      const row = (await new Reading(root).scan(evidenceOf([]))).row("qm-1");
      expect(row.resume?.argv).toEqual(["pi", "--session", id]);
      expect(row.links).toEqual([{ source: "pi", id }]);
    },
  );

  it("of opencode keeps the id in its manifest, whatever its pane says", async () => {
    const root = temporaryDirectory();
    const pane = { agent: "opencode", openCodeSessionID: "ses_new" };
    make(root, "qm-1", { agent: "opencode", extra: { opencode_session_id: "ses_old" }, pane });
    const row = (await new Reading(root).scan(evidenceOf([]))).row("qm-1");
    expect(row.resume?.argv).toEqual(["opencode", "--session", "ses_old"]);
  });

  it.each([
    ["a.b", ["manifest: unsafe claude_session_id"]],
    [" ", ["manifest: unsafe claude_session_id"]],
    ["", []],
  ])("with the resume id %j has the damage %j", async (claude_session_id, damage) => {
    const root = temporaryDirectory();
    make(root, "qm-1", { extra: { claude_session_id }, pane: null });
    const row = (await new Reading(root).scan(evidenceOf([]))).row("qm-1");
    expect(row.damage.map((one) => one.kind)).toEqual(damage);
  });

  it.each([
    [{ TMUX: "/tmp/x,1,0" }, "switch-client"],
    [{}, "attach-session"],
  ])("that is live is not resumed but gone to (%j)", async (env, verb) => {
    const root = temporaryDirectory();
    make(root, "qm-1");
    const { reader } = await new Reading(root, env).scan(evidenceOf(["qm-1"]));
    expect(await reader.resume("questmaster:qm-1")).toMatchObject({
      ok: true,
      command: { argv: ["tmux", verb, "-t", "=qm-1"] },
    });
  });
});

describe("the tree", () => {
  it("nests workers of masters and of others, promotes, and names orphans and ghosts", async () => {
    const root = temporaryDirectory();
    make(root, "qm-1", { type: "master", workers: ["qm-2", "qm-9", "qm-3"] });
    make(root, "qm-2", { parent: "qm-1" });
    make(root, "qm-3", { parent: "qm-1", type: "master" });
    make(root, "qm-4", { title: "standalone" });
    make(root, "qm-5", { parent: "qm-4" });
    make(root, "qm-6", { parent: "qm-7" });
    make(root, "qm-8", { parent: "../evil" });
    const reading = await new Reading(root).scan(evidenceOf([]));
    const facts = (id: string) => {
      const { extra, parent, team } = reading.row(id);
      return [extra.type, parent?.key ?? null, extra.orphan, extra.ghosts, team?.members ?? null];
    };
    expect(facts("qm-1")).toEqual(["master", null, false, ["qm-9"], ["qm-2", "qm-3", "qm-9"]]);
    expect(facts("qm-2")).toEqual(["worker", "questmaster:qm-1", false, [], null]);
    expect(facts("qm-3")).toEqual(["master", "questmaster:qm-1", false, [], []]);
    expect(facts("qm-4")).toEqual(["standalone", null, false, [], ["qm-5"]]);
    expect(facts("qm-5")).toEqual(["worker", "questmaster:qm-4", false, [], null]);
    expect(facts("qm-6")).toEqual(["worker", "questmaster:qm-7", true, [], null]);
    expect(facts("qm-8")).toEqual(["worker", null, false, [], null]);
    const team = await reading.reader.document("questmaster:qm-1", "team");
    expect(JSON.stringify(team)).toMatch(/qm-9.*no manifest/u);
    expect(JSON.stringify(team)).toContain("promoted to a master");
    expect(reading.reader.views("questmaster:qm-2")).toEqual(["events", "info"]);
  });

  it("an orphan is none as soon as its master's manifest appears", async () => {
    const root = temporaryDirectory();
    make(root, "qm-2", { parent: "qm-1" });
    const reading = await new Reading(root).scan(evidenceOf([]));
    expect(reading.row("qm-2").extra.orphan).toBe(true);
    make(root, "qm-1", { type: "master" });
    const delta = await reading.apply([join(root, "qm-1.json")], evidenceOf([]));
    expect(delta.changed.map((row) => row.id).sort()).toEqual(["qm-1", "qm-2"]);
    expect(reading.row("qm-2").extra.orphan).toBe(false);
  });
});

describe("colours", () => {
  function repository(): { root: string; cwd: string; identity: string } {
    const root = temporaryDirectory();
    const cwd = join(temporaryDirectory(), "web");
    mkdirSync(join(cwd, ".git"), { recursive: true });
    mkdirSync(join(cwd, "src"));
    return { root, cwd, identity: join(cwd, ".git") };
  }

  it.each([
    ["2026-07-20T11:00:00Z", "teal"],
    ["2026-07-20T13:00:00Z", "orange"],
    ["2026-07-20T12:00:00Z", "teal"],
  ])("the newer one of session and repository (%s) wins, a tie goes to the session", async (updated_at, color) => {
    const { root, cwd, identity } = repository();
    writeFileSync(join(root, "repo-colors.json"), JSON.stringify({ [identity]: { color: "orange", updated_at } }));
    make(root, "qm-1", { cwd: join(cwd, "src"), type: "master" });
    make(root, "qm-2", { cwd: "/elsewhere", parent: "qm-1" });
    const manifest = `{"session_id":"qm-1","cwd":${JSON.stringify(join(cwd, "src"))},"session_type":"master","display":{"color":"teal","color_changed_at":"2026-07-20T12:00:00Z"}}`;
    writeFileSync(join(root, "qm-1.json"), manifest);
    const reading = await new Reading(root).scan(evidenceOf([]));
    expect(reading.row("qm-1")).toMatchObject({ project: "web", extra: { color, repo: { identity, name: "web" } } });
    expect(reading.row("qm-2").extra.color).toBe(color);
  });

  it("a worktree belongs to the repository it shares", async () => {
    const { root, cwd, identity } = repository();
    rmSync(cwd, { recursive: true });
    execFileSync("git", ["init", "-q", cwd]);
    execFileSync("git", [
      "-C",
      cwd,
      "-c",
      "user.name=x",
      "-c",
      "user.email=x@x",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "x",
    ]);
    execFileSync("git", ["-C", cwd, "worktree", "add", "-q", `${cwd}-tree`]);
    make(root, "qm-1", { cwd: `${cwd}-tree` });
    const reading = await new Reading(root).scan(evidenceOf([]));
    expect(reading.row("qm-1").extra.repo).toEqual({ identity, name: "web" });
  });
});

describe("changes", () => {
  it("of one state change one row, and nothing else is read or repeated", async () => {
    const root = stateRootCopy();
    const reading = await new Reading(root).scan();
    expect(reading.tick(evidenceOf()).changed).toEqual([]);
    const path = writeState(root, "qm-1784547300", { state: "working", agent: "codex" });
    const delta = await reading.apply([path]);
    expect(delta.changed.map((row) => row.id)).toEqual(["qm-1784547300"]);
    expect((await reading.apply([path])).changed).toEqual([]);
  });

  it("of a log change the row, so that an open history is read again", async () => {
    const root = temporaryDirectory();
    make(root, "qm-1");
    const reading = await new Reading(root).scan(evidenceOf(["qm-1"]));
    const log = join(root, "qm-1", "state.jsonl");
    appendFileSync(log, `{"ts":"${NOW}","agent":"claude","action":"working","state":"working"}\n`);
    expect((await reading.apply([log], evidenceOf(["qm-1"]))).changed).toHaveLength(1);
  });

  it("remove a row with its manifest, and name the directory that is left", async () => {
    const root = temporaryDirectory();
    make(root, "qm-1");
    const reading = await new Reading(root).scan(evidenceOf(["qm-1"]));
    rmSync(join(root, "qm-1.json"));
    expect((await reading.apply([join(root, "qm-1.json")])).removed).toEqual(["questmaster:qm-1"]);
    expect(reading.problems.map((one) => one.kind)).toEqual(["no-manifest"]);
  });

  it("keep the last good manifest while it is damaged, and mend with the file", async () => {
    const root = temporaryDirectory();
    const path = join(root, "qm-1.json");
    make(root, "qm-1", { title: "good" });
    const reading = await new Reading(root).scan(evidenceOf(["qm-1"]));
    writeFileSync(path, '{"title":"half');
    await reading.apply([path], evidenceOf(["qm-1"]));
    expect(reading.row("qm-1")).toMatchObject({ title: "good", damage: [{ kind: "manifest" }] });
    expect(reading.problems.map((one) => one.kind)).toEqual(["bad-manifest"]);
    make(root, "qm-1", { title: "whole" });
    await reading.apply([path], evidenceOf(["qm-1"]));
    expect(reading.row("qm-1")).toMatchObject({ title: "whole", damage: [] });
    expect(reading.problems).toEqual([]);
  });

  it("take a manifest that is half copied when it is looked at a moment later", async () => {
    const root = temporaryDirectory();
    const path = join(root, "qm-1.json");
    writeFileSync(path, '{"title":"ha');
    const reading = new Reading(root);
    const scanning = reading.scan(evidenceOf(["qm-1"]));
    setTimeout(() => writeFileSync(path, '{"title":"half no more"}'), 40);
    await scanning;
    expect(reading.row("qm-1").title).toBe("half no more");
    expect(reading.problems).toEqual([]);
  });

  it("tell at once of a name that is no session id, and that it is gone", async () => {
    const root = temporaryDirectory();
    make(root, "qm-1");
    const reading = await new Reading(root).scan(evidenceOf(["qm-1"]));
    const path = join(root, "qm-bad.id.json");
    writeFileSync(path, "{}");
    const delta = await reading.apply([path], evidenceOf(["qm-1"]));
    expect([delta.changed, delta.problems?.map((one) => [one.path, one.kind])]).toEqual([[], [[path, "bad-id"]]]);
    const { problems } = await new Reading(root).scan(evidenceOf(["qm-1"]));
    expect(delta.problems).toEqual(problems);
    expect((await reading.apply([path], evidenceOf(["qm-1"]))).problems).toBeNull();
    rmSync(path);
    expect((await reading.apply([path], evidenceOf(["qm-1"]))).problems).toEqual([]);
  });

  it("concern the files that matter only", () => {
    const root = temporaryDirectory();
    const [watched] = new Reading(root).reader.watched();
    const matters = (name: string) => watched?.matters(join(root, name));
    expect(
      ["qm-1.json", "party-1.json", "qm-bad.id.json", "qm-1/state.json", "qm-1/state.jsonl", "repo-colors.json"].filter(
        (name) => !matters(name),
      ),
    ).toEqual([]);
    expect(
      [
        "qm-1.json.lock",
        "qm-1.json.tmp",
        "qm-1/state.json.tmp",
        "notes.json",
        "qm-1",
        "bad name/state.json",
        "qm-1/x/state.json",
      ].filter(matters),
    ).toEqual([]);
    expect(watched?.depth).toBe(1);
  });

  it("never follow a link out of the root, nor wait for a FIFO", async () => {
    const root = temporaryDirectory();
    const outside = join(temporaryDirectory(), "secret.json");
    writeFileSync(outside, '{"title":"secret"}');
    symlinkSync(outside, join(root, "qm-1.json"));
    execFileSync("mkfifo", [join(root, "qm-2.json")]);
    const reading = await new Reading(root).scan(evidenceOf([]));
    expect(reading.rows.size).toBe(0);
    expect(reading.problems.map((one) => one.kind)).toEqual(["not-regular", "not-regular"]);
  });
});

describe("the history of a session", () => {
  it("holds the events of both logs, newest last, and how the states followed", async () => {
    const { reader } = await new Reading(stateRootCopy()).scan();
    const document = await reader.document("questmaster:party-1784539800", "events");
    const tables = document.blocks.filter((block) => block.type === "table");
    const log = expected.sessions["party-1784539800"]?.log ?? {};
    const total = Object.values(log).reduce((sum, one) => sum + one.events, 0);
    expect(tables[1]?.rows).toHaveLength(total);
    const times = tables[1]?.rows.map((row) => row.cells[0] ?? "") ?? [];
    expect(times).toEqual([...times].sort());
    expect(tables[0]?.rows.map((row) => row.cells[1])).toEqual(["working"]);
  });

  it("names how long each state lasted and which lines were no events", async () => {
    const { reader } = await new Reading(stateRootCopy()).scan();
    const pi = await reader.document("questmaster:party-1784545530", "events");
    const states = pi.blocks.find((block) => block.type === "table");
    expect(states?.type === "table" && states.rows.map((row) => row.cells.slice(1, 3))).toEqual([
      ["starting", "38s"],
      ["working", "52m10s"],
      ["blocked", "0s"],
      ["working", "1m39s"],
    ]);
    const torn = await reader.document("questmaster:party-1784545140", "events");
    expect(JSON.stringify(torn)).toContain("2 lines are no events");
  });

  it("shows the last lines of pi and opencode panes", async () => {
    const { reader } = await new Reading(stateRootCopy()).scan();
    const info = JSON.stringify(await reader.document("questmaster:qm-1784547240", "info"));
    expect(info).toContain("Three broken links fixed.");
  });
});

describe("roots", () => {
  it("are questmaster's own and the one of our hooks", () => {
    const env = { HOME: "/h", FORKTAIL_STATE_DIR: "/s" };
    expect(questmasterSource.defaultRoots(env)).toEqual(["/h/.questmaster-state", "/s/hooks"]);
    expect(hookRoot(env)).toBe("/s/hooks");
  });

  it("that were asked for and are not there are a problem", async () => {
    const reading = await new Reading(join(temporaryDirectory(), "none")).scan();
    expect(reading.problems.map((one) => one.kind)).toEqual(["gone"]);
  });

  it("with two hundred sessions and one writer cost one small read a write", async () => {
    const root = temporaryDirectory();
    const ids = Array.from({ length: 200 }, (_, n) => `qm-${n}`);
    for (const id of ids) make(root, id);
    utimesSync(root, new Date(), new Date());
    const reading = await new Reading(root).scan(evidenceOf(ids));
    const { fileWork } = await import("../../../src/files/open.ts");
    const before = { ...fileWork };
    await reading.apply([writeState(root, "qm-7", { state: "done", seq: 2n })], evidenceOf(ids));
    expect(fileWork.opens - before.opens).toBe(1);
    expect(fileWork.bytesRead - before.bytesRead).toBeLessThan(1000);
  });
});
