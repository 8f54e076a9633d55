import { normalize } from "node:path";
import { joinSessions } from "./join.ts";
import type { SessionKey } from "./key.ts";
import type { Snapshot } from "./snapshot.ts";
import { cleanLine, cutCodePoints } from "./untrusted.ts";

type ConflictKind = "open-twice" | "same-file" | "same-directory" | "directory-gone";

/** Sessions that get in each other's way, or cannot go on where they are. */
export interface Conflict {
  kind: ConflictKind;
  /** The sessions concerned, sorted. */
  keys: SessionKey[];
  /** The file or directory it is about, null for a session open twice. */
  path: string | null;
  /** One sentence: what it is, and what to do. */
  says: string;
}

const KINDS: readonly ConflictKind[] = ["open-twice", "same-file", "same-directory", "directory-gone"];

/** All of them, worst first. `missing`: directories of sessions that are not there, as the sessions name them. */
export function conflicts(
  sessions: ReadonlyMap<SessionKey, Snapshot>,
  missing: ReadonlySet<string> = new Set(),
): Conflict[] {
  const shown = [...joinSessions(sessions).sessions.values()].filter((one) => !one.hidden);
  const live = shown.filter(isLive);
  const files = sameFile(live);
  const found = [...live.flatMap(openTwice), ...files, ...sameDirectory(live, files), ...directoryGone(shown, missing)];
  return found.sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || order(a, b));
}

/** The directories that have to be looked at for `conflicts`: of sessions that run or may be resumed. */
export function directoriesOf(sessions: Iterable<Snapshot>): Set<string> {
  const found = new Set<string>();
  for (const one of sessions) if (one.cwd !== null && goesOn(one)) found.add(one.cwd);
  return found;
}

/** Somebody may write for it now: a pane or a process has it open. */
function isLive(one: Snapshot): boolean {
  if (one.status === "stopped" || one.status === "archived") return false;
  return one.livePane !== null || typeof one.extra.pid === "number" || isWorking(one);
}

function isWorking(one: Snapshot): boolean {
  return one.status === "working" || one.status === "needs-input";
}

function goesOn(one: Snapshot): boolean {
  return !one.hidden && one.status !== "archived" && (isLive(one) || one.can.includes("resume"));
}

/** Its messages would mix. Sources say it by `extra.openTwice`: true, or a list of where. */
function openTwice(one: Snapshot): Conflict[] {
  const { openTwice: twice } = one.extra;
  const places = Array.isArray(twice) ? twice.filter((place) => typeof place === "string") : [];
  if (twice !== true && places.length < 2) return [];
  const where = places.length > 0 ? ` (${places.map((place) => shortLine(place)).join(", ")})` : "";
  const says = `${titled(one)} is open twice${where} and its messages mix: close one of them, or fork it and go on in the copy`;
  return [{ kind: "open-twice", keys: [one.key], path: null, says }];
}

/** Two live sessions edited the same file not long ago: `extra.edits`, absolute paths that sources give. */
function sameFile(live: readonly Snapshot[]): Conflict[] {
  const editors = new Map<string, Snapshot[]>();
  for (const one of live) {
    const { edits } = one.extra;
    if (!Array.isArray(edits)) continue;
    const paths = edits.flatMap((path) => (typeof path === "string" ? normalize(path) : []));
    for (const path of new Set(paths)) gather(editors, path, one);
  }
  // The same two sessions in many files are one warning.
  const groups = new Map<string, { members: Snapshot[]; paths: string[] }>();
  for (const [path, members] of editors) {
    if (members.length < 2) continue;
    const name = keysOf(members).join("\n");
    const group = groups.get(name);
    if (group) group.paths.push(path);
    else groups.set(name, { members, paths: [path] });
  }
  return [...groups.values()].map(({ members, paths }) => {
    const [first = ""] = paths.sort();
    const more = paths.length > 1 ? ` and ${paths.length - 1} more` : "";
    const says = `${titles(members)} edit the same file ${shortLine(first)}${more}: let one finish first, or give each a worktree of its own`;
    return { kind: "same-file", keys: keysOf(members), path: first, says };
  });
}

/** Two at work in one directory; a session and its own workers belong together. */
function sameDirectory(live: readonly Snapshot[], files: readonly Conflict[]): Conflict[] {
  const places = new Map<string, Snapshot[]>();
  for (const one of live) {
    if (one.cwd === null || !isWorking(one)) continue;
    gather(places, withoutSlash(normalize(one.cwd)), one);
  }
  return [...places].flatMap(([path, all]): Conflict[] => {
    const here = new Set(keysOf(all));
    const members = all.filter(
      (one) => one.parent === null || one.parent.relation === "fork" || !here.has(one.parent.key),
    );
    const keys = keysOf(members);
    const told = files.some((one) => keys.every((key) => one.keys.includes(key)));
    if (members.length < 2 || told) return [];
    const says = `${titles(members)} work in the same directory ${shortLine(path)}: give each a worktree of its own (git worktree add), or let one finish first`;
    return [{ kind: "same-directory", keys, path, says }];
  });
}

function directoryGone(shown: readonly Snapshot[], missing: ReadonlySet<string>): Conflict[] {
  if (missing.size === 0) return [];
  const places = new Map<string, Snapshot[]>();
  for (const one of shown) if (one.cwd !== null && missing.has(one.cwd) && goesOn(one)) gather(places, one.cwd, one);
  return [...places].map(([path, members]) => {
    const [verb, at] = members.some(isLive) ? ["work", "in"] : ["belong", "to"];
    const does = `${verb}${members.length === 1 ? "s" : ""} ${at}`;
    const says = `${titles(members)} ${does} ${shortLine(path)}, which is gone: make it again (git worktree add, or mkdir -p) before going on`;
    return { kind: "directory-gone", keys: keysOf(members), path, says };
  });
}

function gather(map: Map<string, Snapshot[]>, name: string, one: Snapshot): void {
  const members = map.get(name);
  if (members) members.push(one);
  else map.set(name, [one]);
}

function keysOf(members: readonly Snapshot[]): SessionKey[] {
  return members.map((one) => one.key).sort();
}

function titled(one: Snapshot): string {
  return `“${shortLine(one.title, 40)}”`;
}

/** The first two by name, the others by number. */
function titles(members: readonly Snapshot[]): string {
  const named = [...members].sort((a, b) => (a.key < b.key ? -1 : 1)).map(titled);
  const [first = "", second = ""] = named;
  if (named.length === 1) return first;
  return named.length === 2 ? `${first} and ${second}` : `${first}, ${second} and ${named.length - 2} more`;
}

function shortLine(text: string, most = 120): string {
  return cutCodePoints(cleanLine(text), most);
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function order(a: Conflict, b: Conflict): number {
  const [one, other] = [a.keys.join(), b.keys.join()];
  return one < other ? -1 : one > other ? 1 : (a.path ?? "") < (b.path ?? "") ? -1 : 1;
}
