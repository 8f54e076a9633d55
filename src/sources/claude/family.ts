import type { ClaudeFile } from "./file.ts";
import type { OwnedRequest } from "./requests.ts";

/** A session as far as copies between sessions concern it. */
export interface Member {
  id: string;
  file: ClaudeFile;
  /** Asked for only where there are relatives. */
  requests(): readonly OwnedRequest[];
}

export interface Lineage {
  /** The session this one was copied from, null for an original. It may be gone. */
  forkOf: string | null;
  /** The last copied row's uuid. */
  forkPoint: string | null;
  /** Ids of requests that another session owns. */
  copied: ReadonlySet<string>;
  /** Is that session there? */
  hasOriginal: boolean;
  /** 0 for an original, 1 for its copies, … */
  depth: number;
}

const ORIGINAL: Lineage = { forkOf: null, forkPoint: null, copied: new Set(), hasOriginal: false, depth: 0 };
const MOST_COMPARED = 64;

/** What ties sessions into one family: the sessions they say they were copied from, and the roots of their chains. */
export function familyTies(id: string, file: ClaudeFile): string[] {
  const ties = new Set<string>([`session:${id}`]);
  const pointed = pointedAt(id, file);
  if (pointed !== null) ties.add(`session:${pointed.session}`);
  for (const session of Object.keys(file.sessionRows)) ties.add(`session:${session}`);
  for (const uuid of file.roots) ties.add(`row:${uuid}`);
  return [...ties];
}

/** Where the copied rows say they come from: `forkedFrom`, else another session id on rows that were not rewritten. */
function pointedAt(id: string, file: ClaudeFile): { session: string; row: number } | null {
  if (file.forkedFrom !== null && file.forkedFrom.session !== id) return file.forkedFrom;
  let last: { session: string; row: number } | null = null;
  for (const [session, row] of Object.entries(file.sessionRows)) {
    if (session !== id && (last === null || row > last.row)) last = { session, row };
  }
  return last;
}

/**
 * Who was copied from whom, and who owns which request (agents.md §0, §1.3): the session a copy points at, else the
 * one with the earliest activity of its own. Depends on the members alone, never on their order.
 */
export function lineages(members: readonly Member[]): Map<string, Lineage> {
  const sorted = [...members].sort((a, b) => (a.id < b.id ? -1 : 1));
  const [only, other] = sorted;
  if (only !== undefined && other === undefined) return new Map([[only.id, lineageAlone(only)]]);
  const uuids = new Map(sorted.map((one) => [one.id, uuidsInOrder(one.file)]));
  const sources = new Map<string, { forkOf: string; row: number } | null>();
  for (const one of sorted) sources.set(one.id, sourceOf(one, sorted, uuids));
  const depths = depthsOf(sorted, sources);
  const owners = ownersOf(sorted, depths, sources);
  const found = new Map<string, Lineage>();
  for (const one of sorted) {
    const source = sources.get(one.id) ?? null;
    const copied = new Set<string>();
    for (const { request } of one.requests()) if (owners.get(request.id) !== one.id) copied.add(request.id);
    found.set(one.id, {
      forkOf: source === null ? null : source.forkOf,
      forkPoint: source === null ? null : (uuids.get(one.id)?.[source.row] ?? null),
      copied,
      hasOriginal: sorted.some(({ id }) => id === source?.forkOf),
      depth: depths.get(one.id) ?? 0,
    });
  }
  return found;
}

/** Without relatives all it has is its own, wherever it says it was copied from. */
function lineageAlone(only: Member): Lineage {
  const pointed = pointedAt(only.id, only.file);
  if (pointed === null) return ORIGINAL;
  const point = uuidsInOrder(only.file)[pointed.row] ?? null;
  return { forkOf: pointed.session, forkPoint: point, copied: new Set(), hasOriginal: false, depth: 1 };
}

function uuidsInOrder(file: ClaudeFile): string[] {
  const uuids: string[] = [];
  for (const [uuid, row] of Object.entries(file.rows)) uuids[row] = uuid;
  return uuids;
}

function sourceOf(
  one: Member,
  members: readonly Member[],
  uuids: ReadonlyMap<string, string[]>,
): { forkOf: string; row: number } | null {
  const pointed = pointedAt(one.id, one.file);
  if (pointed !== null && isCopyOf(one, pointed.session, members, uuids)) {
    return { forkOf: pointed.session, row: pointed.row };
  }
  let best: { forkOf: string; row: number; shared: number; own: number } | null = null;
  for (const other of nearest(one, members)) {
    // A copy that says where it comes from is nobody's original but its own copies'.
    if (pointedAt(other.id, other.file)?.session === one.id) continue;
    const mine = compare(one, other, uuids.get(one.id) ?? []);
    if (mine.shared === 0) continue;
    const theirs = compare(other, one, uuids.get(other.id) ?? []);
    if (!isOriginal(other, theirs, one, mine)) continue;
    const better =
      best === null ||
      mine.shared > best.shared ||
      (mine.shared === best.shared &&
        (theirs.firstOwn < best.own || (theirs.firstOwn === best.own && other.id < best.forkOf)));
    if (better) best = { forkOf: other.id, row: mine.lastShared, shared: mine.shared, own: theirs.firstOwn };
  }
  return best === null ? null : { forkOf: best.forkOf, row: best.row };
}

/** Another session's id alone makes no copy of it where that session can be looked at: rows of it do (agents.md §1.3). */
function isCopyOf(one: Member, id: string, members: readonly Member[], uuids: ReadonlyMap<string, string[]>): boolean {
  const other = one.file.forkedFrom === null ? members.find((member) => member.id === id) : undefined;
  return other === undefined || compare(one, other, uuids.get(one.id) ?? []).shared > 0;
}

function nearest(one: Member, members: readonly Member[]): Member[] {
  const others = members.filter((other) => other !== one);
  if (others.length <= MOST_COMPARED) return others;
  const at = one.file.startedAt ?? 0;
  return others
    .sort((a, b) => Math.abs((a.file.startedAt ?? 0) - at) - Math.abs((b.file.startedAt ?? 0) - at))
    .slice(0, MOST_COMPARED);
}

interface Compared {
  shared: number;
  lastShared: number;
  /** Time of the first row the other lacks; Infinity when it has them all. */
  firstOwn: number;
}

function compare(one: Member, other: Member, uuids: readonly string[]): Compared {
  let shared = 0;
  let lastShared = -1;
  let firstOwn = Number.POSITIVE_INFINITY;
  for (let row = 0; row < uuids.length; row += 1) {
    const uuid = uuids[row];
    if (uuid !== undefined && Object.hasOwn(other.file.rows, uuid)) {
      shared += 1;
      lastShared = row;
    } else firstOwn = Math.min(firstOwn, one.file.times[row] ?? Number.POSITIVE_INFINITY);
  }
  return { shared, lastShared, firstOwn };
}

/** Is `a` the original of `b`? A copy holds all of its original when that was never continued. */
function isOriginal(a: Member, ofA: Compared, b: Member, ofB: Compared): boolean {
  const aWhole = ofA.firstOwn === Number.POSITIVE_INFINITY;
  const bWhole = ofB.firstOwn === Number.POSITIVE_INFINITY;
  if (aWhole && bWhole) return a.id < b.id;
  if (aWhole || bWhole) return aWhole;
  if (ofA.firstOwn !== ofB.firstOwn) return ofA.firstOwn < ofB.firstOwn;
  return a.id < b.id;
}

function depthsOf(
  members: readonly Member[],
  sources: ReadonlyMap<string, { forkOf: string } | null>,
): Map<string, number> {
  const depths = new Map<string, number>();
  for (const one of members) {
    const seen = new Set<string>();
    let at: string | null = one.id;
    while (at !== null && !seen.has(at)) {
      seen.add(at);
      at = sources.get(at)?.forkOf ?? null;
    }
    depths.set(one.id, seen.size - 1);
  }
  return depths;
}

/** Originals before copies; among equals who did something of their own first. */
function ownersOf(
  members: readonly Member[],
  depths: ReadonlyMap<string, number>,
  sources: ReadonlyMap<string, { row: number } | null>,
): Map<string, string> {
  const firstOwn = (one: Member): number => {
    const from = (sources.get(one.id)?.row ?? -1) + 1;
    let first = Number.POSITIVE_INFINITY;
    for (let row = from; row < one.file.times.length; row += 1) first = Math.min(first, one.file.times[row] ?? first);
    return first;
  };
  const ranked = members
    .map((one) => ({ one, depth: depths.get(one.id) ?? 0, first: firstOwn(one) }))
    .sort((a, b) => a.depth - b.depth || compareNumbers(a.first, b.first) || (a.one.id < b.one.id ? -1 : 1));
  const owners = new Map<string, string>();
  for (const { one } of ranked) {
    for (const { request } of one.requests()) if (!owners.has(request.id)) owners.set(request.id, one.id);
  }
  return owners;
}

function compareNumbers(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
