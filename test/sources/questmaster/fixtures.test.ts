import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { advanceFile, runNow } from "../../../src/files/fold.ts";
import {
  classify,
  effectiveResumeID,
  eventLogFold,
  extraString,
  judge,
  loadSessionState,
  type Manifest,
  manifestResumeID,
  openStore,
  parentID,
  parseManifest,
  primaryAgent,
  readArtifacts,
  readQuests,
  readRepoColors,
  type StateFile,
  sessionType,
  sortByMtime,
  trackerOrder,
} from "../../../src/sources/questmaster/index.ts";
import { glyphOf } from "../../../src/sources/questmaster/judge.ts";
import { sortKey } from "../../../src/sources/questmaster/tree.ts";
import { fixture } from "../../support/fixtures.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { type ExpectedPane, type ExpectedSession, expected, namesOf, referenceNow, stateRootCopy } from "./expected.ts";

const root = fixture("questmaster", "state");
const sessions = Object.values(expected.sessions);
const readable = sessions.filter((one) => one.manifest === "ok");

function manifestOf(id: string): Manifest {
  return parseManifest(id, readFileSync(join(root, `${id}.json`), "utf8"));
}

/** Go's zero values read as null, as EXPECTED.json writes them. */
const orNull = (text: string): string | null => (text === "" || text.startsWith("0001-01-01") ? null : text);

async function stateFileOf(id: string): Promise<StateFile> {
  if (!expected.sessions[id]?.valid_id) return { kind: "missing" };
  const state = await loadSessionState(id, { root });
  return state === null ? { kind: "missing" } : { kind: "ok", state };
}

function manifestFacts(manifest: Manifest): Partial<ExpectedSession> {
  const agent = primaryAgent(manifest)?.name ?? "";
  return {
    id: manifest.partyID,
    title: manifest.title,
    display_title: manifest.title || manifest.partyID,
    type: sessionType(manifest),
    parent: parentID(manifest),
    cwd: manifest.cwd,
    created_at: orNull(manifest.createdAt),
    updated_at: orNull(manifest.updatedAt),
    sort_key: sortKey({ id: manifest.partyID, createdAt: manifest.createdAt }),
    workers: manifest.workers,
    agents: manifest.agents.map(({ role, name, cli, window, resumeID }) => {
      return { role, name, cli, window, resume_id: orNull(resumeID) };
    }),
    primary_agent: agent,
    extra_keys: [...manifest.extra.keys(), ...manifest.unsafe].filter((key) => key !== "display").sort(),
    id_key: manifest.idKey,
    resume_id: orNull(manifestResumeID(manifest, agent)),
    ...(manifest.extra.has("display") ? { display: JSON.parse(manifest.extra.get("display") ?? "") } : {}),
  };
}

describe.each(readable)("manifest of $id", (session) => {
  const manifest = manifestOf(session.id);

  it("has every fact that EXPECTED.json names", () => {
    const facts = manifestFacts(manifest);
    expect(facts).toEqual(
      Object.fromEntries(Object.keys(facts).map((key) => [key, session[key as keyof ExpectedSession]])),
    );
  });

  it("knows whether its parent has a manifest", () => {
    const parent = parentID(manifest);
    const exists = parent === null ? null : expected.sessions[parent]?.manifest === "ok";
    expect(exists).toBe(session.parent_exists);
  });

  it("resumes by the effective id", async () => {
    const file = await stateFileOf(session.id);
    expect(effectiveResumeID(manifest, file.kind === "ok" ? file.state : null)).toBe(session.effective_resume_id);
  });
});

describe.each(sessions.filter((one) => one.state_file === "ok"))("state of $id", (session) => {
  it("has every fact that EXPECTED.json names", async () => {
    const state = await loadSessionState(session.id, { root });
    expect(state?.sessionID || session.id).toBe(session.id);
    expect(state?.version).toBe(session.state_version);
    expect(orNull(state?.seenAt ?? "")).toBe(session.seen_at);
    const byRole = new Map<string, unknown>();
    for (const [role, pane] of state?.panes ?? []) {
      const optional: Partial<ExpectedPane> = {
        ...(pane.recent.length > 0 ? { recent: pane.recent } : {}),
        ...(pane.sessionFile ? { session_file: pane.sessionFile } : {}),
        ...(pane.piSessionID ? { pi_session_id: pane.piSessionID } : {}),
        ...(pane.openCodeSessionID ? { opencode_session_id: pane.openCodeSessionID } : {}),
        ...(pane.pendingPartMsgID ? { pending_part_msg_id: pane.pendingPartMsgID } : {}),
      };
      byRole.set(role, {
        role: pane.role,
        agent: pane.agent,
        state: pane.state,
        activity: pane.activity,
        tool: orNull(pane.tool),
        seq: pane.seq.toString(),
        last_event: orNull(pane.lastEvent),
        last_kind: pane.lastKind,
        working_since: orNull(pane.workingSince ?? ""),
        ...optional,
      });
    }
    const wanted = session.panes.map((pane) => [
      pane.role,
      Object.fromEntries(Object.entries(pane).filter(([key]) => key !== "displayed")),
    ]);
    expect(Object.fromEntries(byRole)).toEqual(Object.fromEntries(wanted));
  });
});

describe.each(readable.filter((one) => one.recommended.visible))("row of $id", (session) => {
  it("is what EXPECTED.json recommends", async () => {
    const live = expected.live_tmux_sessions.includes(session.id);
    expect(live).toBe(session.live);
    const verdict = judge({
      liveness: { live: live ? "yes" : "no", why: "" },
      stateFile: await stateFileOf(session.id),
      now: referenceNow,
      seenMark: null,
    });
    const { visible: _visible, why: _why, ...wanted } = session.recommended;
    expect({
      state: verdict.state,
      word: verdict.word,
      glyph: glyphOf(verdict),
      attention: verdict.attention,
      activity: verdict.activity ?? "",
      stale: verdict.stale,
      working_for_ms: verdict.workingForMs,
    }).toEqual(wanted);
  });
});

describe.each(sessions.flatMap((one) => Object.entries(one.log).map(([name, log]) => ({ id: one.id, name, log }))))(
  "$id/$name",
  ({ id, name, log }) => {
    it("has the counted lines", () => {
      const path = join(root, id, name);
      const read = runNow(advanceFile(eventLogFold, path, null));
      if (!read.ok) throw new Error(read.message);
      const { state } = read.folded;
      expect({
        bytes: statSync(path).size,
        events: state.count,
        bad_lines: state.badLines,
        blank_lines: state.blankLines,
        unterminated_tail: state.tailBytes > 0,
      }).toEqual(log);
    });
  },
);

describe("the root", () => {
  it("has the recommended order", () => {
    const rows = readable
      .filter((one) => one.recommended.visible)
      .map((one) => manifestOf(one.id))
      .map((one) => ({ id: one.partyID, createdAt: one.createdAt, type: sessionType(one), parent: parentID(one) }));
    expect(trackerOrder(rows).map((row) => row.id)).toEqual(expected.order.recommended);
  });

  it("lists the stopped sessions by the time of their manifests", async () => {
    const copy = stateRootCopy();
    const stopped = (await openStore(copy).discoverSessions()).filter(
      (one) => !expected.live_tmux_sessions.includes(one.partyID),
    );
    sortByMtime(stopped, copy);
    expect(stopped.map((one) => one.partyID)).toEqual(expected.resumable_by_mtime);
  });

  it("discovers exactly the manifests that can be read under a valid id", async () => {
    const found = (await openStore(root).discoverSessions()).map((one) => one.partyID);
    expect(found).toEqual(
      readable
        .filter((one) => one.valid_id)
        .map((one) => one.id)
        .sort(),
    );
  });

  it("names why every other entry is passed over", () => {
    const skipped = namesOf(root).flatMap((name) => {
      const directory = name.endsWith("/");
      const entry = classify(directory ? name.slice(0, -1) : name);
      if (entry.kind === "lock") return [{ entry: name, reason: "lock file" }];
      if (entry.kind === "temporary") return [{ entry: name, reason: "leftover of an interrupted write" }];
      if (entry.kind === "other") return [{ entry: name, reason: "name is no session id" }];
      if (entry.kind === "manifest" && directory) return [{ entry: name.slice(0, -1), reason: "a directory" }];
      if (entry.kind === "session" && expected.sessions[entry.id] === undefined) {
        return [{ entry: name, reason: "state directory without a manifest (v0.2.x delete leaves it behind)" }];
      }
      return [];
    });
    expect(skipped.sort((a, b) => (a.entry < b.entry ? -1 : 1))).toEqual(expected.skipped);
  });

  it.each(sessions.filter((one) => one.manifest !== "ok"))("refuses the damaged manifest of $id", (session) => {
    expect(() => manifestOf(session.id)).toThrow();
  });

  it("has the artifacts, quests and colours of its own files", () => {
    expect(readArtifacts(root)).toEqual(expected.root_files.artifacts);
    expect(readQuests(root)).toEqual(expected.root_files.quests);
    expect(Object.fromEntries(readRepoColors(root))).toEqual(expected.root_files.repo_colors);
  });

  it("is not changed by reading all of it", async () => {
    const copy = stateRootCopy();
    const before = treeHash(copy);
    for (const manifest of await openStore(copy).discoverSessions()) {
      await loadSessionState(manifest.partyID, { root: copy });
      extraString(manifest, "parent_session");
    }
    readArtifacts(copy);
    readQuests(copy);
    readRepoColors(copy);
    expect(treeHash(copy)).toEqual(before);
  });
});
