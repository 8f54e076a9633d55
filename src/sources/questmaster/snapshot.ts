import { isoTime } from "../../files/go-json.ts";
import { type SessionKey, sessionKey } from "../../session/key.ts";
import {
  type ActionName,
  blankSnapshot,
  type Damage,
  type Pane,
  type SessionLink,
  type Snapshot,
} from "../../session/snapshot.ts";
import { cleanLine } from "../../session/untrusted.ts";
import type { Root } from "../source.ts";
import { isResumableAgent } from "./ids.ts";
import { activityLine, judge, type StateFile, seenMark, type Verdict } from "./judge.ts";
import { isHooked, type Presence } from "./liveness.ts";
import type { LogHealth } from "./log-health.ts";
import { type Manifest, parentID, type SessionType, sessionType } from "./manifest.ts";
import { colorOf, type Repo } from "./repo.ts";
import { effectiveResumeID, leadingAgent, resumeArgv } from "./resume-id.ts";
import type { RepoColor } from "./root-files.ts";
import type { PaneState, SessionState } from "./session-state.ts";
import { unixMillis } from "./time.ts";
import { sortKey } from "./tree.ts";

export const NAME = "questmaster";

/** What is held of one session between two looks. */
export interface Held {
  key: SessionKey;
  root: Root;
  id: string;
  /** Of the manifest. */
  path: string;
  manifest: Manifest;
  /** The file on disk is not what `manifest` says: it is damaged now, and the last good value is kept. */
  manifestDamaged: boolean;
  stateFile: StateFile;
  logBytes: number;
  logHealth: LogHealth | null;
}

/** What a snapshot takes from the sessions around it. */
export interface Kin {
  /** Ids of this root that have a manifest. */
  ids: ReadonlySet<string>;
  /** Ids whose parent this session is. */
  children: readonly string[];
  master: Manifest | null;
  repo: Repo | null;
  masterRepo: Repo | null;
  repoColors: ReadonlyMap<string, RepoColor>;
}

/** What a session is judged by at one moment. */
export interface Moment {
  presence: Presence;
  /** ms since 1970. */
  now: number;
  /** The mark our memory holds, null when the person never looked. */
  seen: string | null;
}

/** The row of one session (design §4, column questmaster), and when it may change by the clock alone. Pure. */
export function snapshotOf(held: Held, kin: Kin, moment: Moment): { snapshot: Snapshot; recheckAt: number | null } {
  const { manifest } = held;
  const { presence } = moment;
  const verdict = judge({
    liveness: presence.liveness,
    agentExited: presence.pane?.dead ?? false,
    stateFile: held.stateFile,
    now: moment.now,
    seenMark: moment.seen,
  });
  const state = held.stateFile.kind === "ok" ? held.stateFile.state : null;
  const agent = leadingAgent(manifest, state);
  const resumeID = effectiveResumeID(manifest, state);
  const argv = agent === null || resumeID === null ? null : resumeArgv(agent, resumeID);
  const type = sessionType(manifest);
  const parent = parentID(manifest);
  const snapshot: Snapshot = {
    ...blankSnapshot({ key: held.key, source: NAME, id: held.id, root: held.root.path, path: held.path }),
    title: cleanLine(manifest.title) || held.id,
    name: cleanLine(manifest.title) || null,
    agent: agent === null ? null : cleanLine(agent),
    cwd: manifest.cwd || null,
    project: kin.repo === null ? null : cleanLine(kin.repo.name),
    status: verdict.status,
    native: verdict.native,
    certainty: verdict.certainty,
    why: verdict.why,
    activity: verdict.activity,
    createdAt: isoTime(manifest.createdAt),
    updatedAt: newest(manifest, state),
    parent: parent === null ? null : { key: sessionKey(NAME, held.root.index, parent), relation: "worker" },
    panes: state === null ? [] : panesOf(state),
    team: teamOf(manifest, type, kin),
    resume: argv === null ? null : { argv, cwd: manifest.cwd || null },
    can: canDo(manifest, type, presence, argv !== null, kin),
    damage: damageOf(held),
    links: linksOf(manifest, agent, resumeID),
    livePane: presence.pane?.id ?? null,
    extra: extraOf(held, kin, verdict, type),
  };
  return { snapshot, recheckAt: verdict.recheckAt };
}

function newest(manifest: Manifest, state: SessionState | null): string | null {
  const times = [
    manifest.createdAt,
    manifest.updatedAt,
    ...[...(state?.panes.values() ?? [])].map((one) => one.lastEvent),
  ];
  const newest = Math.max(...times.map((time) => unixMillis(time) ?? Number.NEGATIVE_INFINITY));
  return Number.isFinite(newest) ? new Date(newest).toISOString() : null;
}

/** All panes, the primary one first. */
function panesOf(state: SessionState): Pane[] {
  const roles = [...state.panes].sort(
    ([a], [b]) => Number(b === "primary") - Number(a === "primary") || (a < b ? -1 : 1),
  );
  return roles.map(([role, pane]) => ({
    role: cleanLine(role),
    agent: cleanLine(pane.agent),
    state: cleanLine(pane.state),
    activity: activityLine(pane.activity) || null,
    tool: cleanLine(pane.tool) || null,
    lastEvent: isoTime(pane.lastEvent),
  }));
}

function teamOf(manifest: Manifest, type: SessionType, kin: Kin): Snapshot["team"] {
  const members = memberIDs(manifest, kin);
  if (type !== "master" && members.length === 0) return null;
  return { name: cleanLine(manifest.title) || manifest.partyID, members: members.map(cleanLine) };
}

/** Workers by their own word (`parent_session`), then those only the master's list names: ghosts among them (questmaster.md §8.9). */
function memberIDs(manifest: Manifest, kin: Kin): string[] {
  return [...new Set([...kin.children, ...manifest.workers])];
}

/** Workers in the master's list that have no manifest. */
function ghostsOf(manifest: Manifest, ids: ReadonlySet<string>): string[] {
  return manifest.workers.filter((id) => !ids.has(id));
}

function canDo(manifest: Manifest, type: SessionType, presence: Presence, resumable: boolean, kin: Kin): ActionName[] {
  const live = presence.liveness.live === "yes";
  const can: ActionName[] = [];
  if (resumable) can.push("resume");
  if (presence.pane !== null) can.push("attach", "send");
  if (isHooked(manifest)) return [...can, "delete"];
  if (kin.children.length > 0) can.push("broadcast");
  if (type === "master") can.push("spawn");
  if (live && type !== "master") can.push("promote");
  return [...can, "delete"];
}

function damageOf(held: Held): Damage[] {
  const damage: Damage[] = [];
  if (held.manifestDamaged) damage.push({ kind: "manifest", bytes: null, line: null });
  for (const key of held.manifest.unsafe) damage.push({ kind: `manifest: unsafe ${key}`, bytes: null, line: null });
  if (held.stateFile.kind === "damaged") damage.push({ kind: "state", bytes: null, line: null });
  const log = held.logHealth;
  if (log !== null) {
    for (const line of log.badLines) damage.push({ kind: "log", bytes: null, line });
    if (log.tailBytes > 0) damage.push({ kind: "log: unfinished line", bytes: log.tailBytes, line: log.lines + 1 });
  }
  return damage;
}

/** The conversations the session's agents write, so that their rows and this one are joined. */
function linksOf(manifest: Manifest, agent: string | null, resumeID: string | null): SessionLink[] {
  const links: SessionLink[] = [];
  const add = (name: string, id: string): void => {
    if (isResumableAgent(name) && !links.some((link) => link.source === name)) links.push({ source: name, id });
  };
  if (agent !== null && resumeID !== null) add(agent, resumeID);
  for (const { name, resumeID: id } of manifest.agents) if (id !== "") add(name, id);
  return links;
}

/** What screens of this source show beyond the shared columns. */
interface QuestmasterExtra extends Record<string, unknown> {
  type: SessionType;
  state: string;
  word: string;
  attention: Verdict["attention"];
  stale: boolean;
  /** ISO 8601 of when the primary pane began to work, null when it does not. */
  workingSince: string | null;
  lastKind: string | null;
  /** What the screen stores when the person looks at the session; null when there is nothing to have seen. */
  seenMark: string | null;
  /** Descending by this text is the tracker's order. */
  sortKey: string;
  /** A worker whose master has no manifest. */
  orphan: boolean;
  ghosts: string[];
  color: string | null;
  repo: Repo | null;
  /** Made by `forktail hook`, without questmaster. */
  hooked: boolean;
  /** Grows when an event is logged, so that an open event view is read again. */
  logBytes: number;
}

function extraOf(held: Held, kin: Kin, verdict: Verdict, type: SessionType): QuestmasterExtra {
  const { manifest } = held;
  const pane = primaryPane(held.stateFile);
  const parent = parentID(manifest);
  const owner = type === "worker" && kin.master !== null ? kin.master : manifest;
  const repo = owner === manifest ? kin.repo : kin.masterRepo;
  const color = colorOf(displayOf(owner), repo === null ? undefined : kin.repoColors.get(repo.identity));
  return {
    type,
    state: cleanLine(verdict.state),
    word: verdict.word,
    attention: verdict.attention,
    stale: verdict.stale,
    workingSince: verdict.workingForMs === null ? null : isoTime(workingSince(pane)),
    lastKind: cleanLine(pane?.lastKind ?? "") || null,
    seenMark: pane === null ? null : seenMark(pane),
    sortKey: cleanLine(sortKey({ id: held.id, createdAt: manifest.createdAt })),
    orphan: type === "worker" && parent !== null && !kin.ids.has(parent),
    ghosts: ghostsOf(manifest, kin.ids).map(cleanLine),
    color,
    repo: kin.repo === null ? null : { identity: cleanLine(kin.repo.identity), name: cleanLine(kin.repo.name) },
    hooked: isHooked(manifest),
    logBytes: held.logBytes,
  };
}

function workingSince(pane: PaneState | null): string {
  const since = pane?.workingSince ?? "";
  return unixMillis(since) === null ? (pane?.lastEvent ?? "") : since;
}

export function primaryPane(file: StateFile): PaneState | null {
  return file.kind === "ok" ? (file.state.panes.get("primary") ?? null) : null;
}

function displayOf(manifest: Manifest): unknown {
  const raw = manifest.extra.get("display");
  return raw === undefined ? null : JSON.parse(raw);
}
