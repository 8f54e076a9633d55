import { isDeepStrictEqual } from "node:util";
import { openTwice } from "../../probe/open-twice.ts";
import type { Process, ProcessTable } from "../../probe/processes.ts";
import { scriptOf } from "./script.ts";

/** Why a process is believed to run a session. */
export interface Live {
  process: Process;
  /** In words. */
  evidence: string;
  /** By its folder alone. */
  guess: boolean;
  /** Where it is open when more than one process has it on its command line; else empty. */
  openTwice: string[];
}

/** A session as far as processes concern it. */
export interface Seat {
  id: string;
  cwd: string | null;
  /** ms since 1970. */
  updatedAt: number | null;
  /** ms since 1970; without it, it may have been there before any process. */
  createdAt?: number | null;
  /** The session whose process runs this sub-agent. */
  parent: string | null;
  /** Is its last turn unfinished? A finished sub-agent is nobody's work any more. */
  open: boolean;
  /** Which kind of the tool's stores it lies in, where a program serves only some. */
  store: string | null;
  /** Its file, where a command line may name that. */
  path?: string;
}

/** What a tool's process looks like. */
export interface Program {
  isProgram(process: Process): boolean;
  /** Which session its command line names: a seat's id, `other` for one that is not among them, null for none. */
  named(process: Process, seats: ReadonlyMap<string, Seat>): { id: string } | "other" | null;
  /** Which stores this process serves; null: any. */
  stores?(process: Process): string | null;
}

/**
 * Which process runs which session of a tool that keeps neither registry nor locks (agents.md §0): the id on its
 * command line, else the newest session of its folder that was written since it started.
 */
export function findSeats(seats: readonly Seat[], processes: ProcessTable, program: Program): Map<string, Live> {
  const live = new Map<string, Live>();
  const byId = new Map(seats.map((seat) => [seat.id, seat]));
  const byFolder: Process[] = [];
  const byName = new Map<string, Process[]>();
  const running = processes.all.filter((one) => program.isProgram(one));
  const { doubles, launchers, started } = pairsOf(running, processes);
  for (const process of running) {
    const named = program.named(process, byId);
    if (named === null && !doubles.has(process)) byFolder.push(process);
    else if (named !== null && named !== "other") byName.set(named.id, [...(byName.get(named.id) ?? []), process]);
  }
  for (const [id, all] of byName) {
    const [process] = all;
    if (process === undefined) continue;
    const evidence = `process ${process.pid} has it on its command line`;
    live.set(id, { process, evidence, guess: false, openTwice: openTwice(all, processes) });
  }
  // The latest to start has the fewest sessions to choose from, one that serves a single store fewer still.
  const narrow = (one: Process): number => ((program.stores?.(one) ?? null) === null ? 1 : 0);
  const isStarted = (one: Process): boolean => {
    for (let at: Process | undefined = one; at !== undefined; at = launchers.get(at)) if (started.has(at)) return true;
    return false;
  };
  const own = (one: Process): number => (isStarted(one) ? 0 : 1);
  byFolder.sort(
    (a, b) => own(a) - own(b) || narrow(a) - narrow(b) || (b.startedAt ?? 0) - (a.startedAt ?? 0) || b.pid - a.pid,
  );
  for (const process of byFolder) {
    const store = program.stores?.(process) ?? null;
    const startedAt = startOf(process, launchers);
    // Older ones may be those of the agent that started it.
    const free = isStarted(process) ? seats.filter((seat) => hasBegunSince(seat, startedAt)) : seats;
    const seat = newestIn({ ...process, startedAt }, store, free, live);
    if (seat === null) continue;
    const evidence = `process ${process.pid} runs in its folder, and it is the newest session there`;
    live.set(seat.id, { process, evidence, guess: true, openTwice: [] });
  }
  for (const seat of seats) {
    const of = seat.parent === null || !seat.open ? undefined : ancestorOf(seat, byId, live);
    if (of === undefined || live.has(seat.id)) continue;
    const evidence = `process ${of.process.pid} runs the session that started it`;
    live.set(seat.id, { process: of.process, evidence, guess: true, openTwice: [] });
  }
  return live;
}

const MOST_ANCESTORS = 64;

interface Pairs {
  /** Launchers, which leave their session to what they started. */
  doubles: Set<Process>;
  /** By what a launcher started: the launcher. */
  launchers: Map<Process, Process>;
  /** What an agent started in its own folder, with other arguments: it has a session of its own, or none. */
  started: Set<Process>;
}

/** Tells a launcher from the same command it started, and an agent from what it started for itself. */
function pairsOf(running: readonly Process[], { byPid }: ProcessTable): Pairs {
  const programs = new Set(running);
  const pairs: Pairs = { doubles: new Set(), launchers: new Map(), started: new Set() };
  for (const process of running) {
    const ancestor = ancestorIn(programs, process, byPid);
    if (ancestor === null) continue;
    if (isSameCommand(ancestor.argv, process.argv)) {
      pairs.doubles.add(ancestor);
      pairs.launchers.set(process, ancestor);
    } else pairs.started.add(process);
  }
  return pairs;
}

/** The nearest one of these in the same folder that a process descends from. */
function ancestorIn(programs: ReadonlySet<Process>, process: Process, byPid: ProcessTable["byPid"]): Process | null {
  const seen = new Set([process.pid]);
  for (let at = process.ppid; at !== null && !seen.has(at) && seen.size < MOST_ANCESTORS; ) {
    seen.add(at);
    const ancestor = byPid.get(at);
    if (ancestor === undefined) return null;
    if (programs.has(ancestor) && ancestor.cwd === process.cwd) return ancestor;
    at = ancestor.ppid;
  }
  return null;
}

/** Do both have the same arguments, whichever program, or runtime with options and script, stands before them? */
function isSameCommand(...both: [readonly string[], readonly string[]]): boolean {
  const [a, b] = both.map((argv) => scriptOf(argv)?.args ?? argv.slice(1));
  return isDeepStrictEqual(a, b);
}

/** When the command began: its launcher was first. */
function startOf(process: Process, launchers: Pairs["launchers"]): number | null {
  let start = process.startedAt ?? null;
  for (let at = launchers.get(process); at !== undefined; at = launchers.get(at)) start = at.startedAt ?? start;
  return start;
}

function hasBegunSince({ createdAt }: Seat, since: number | null): boolean {
  return since !== null && createdAt != null && createdAt >= since;
}

function newestIn(
  process: Process,
  store: string | null,
  seats: readonly Seat[],
  live: ReadonlyMap<string, Live>,
): Seat | null {
  let newest: Seat | null = null;
  for (const seat of seats) {
    if (process.cwd === null || seat.cwd !== process.cwd || seat.parent !== null || live.has(seat.id)) continue;
    if (store !== null && seat.store !== store) continue;
    const since = process.startedAt ?? null;
    if (since !== null && (seat.updatedAt ?? 0) < since) continue;
    if (newest === null || (seat.updatedAt ?? 0) > (newest.updatedAt ?? 0)) newest = seat;
  }
  return newest;
}

function ancestorOf(seat: Seat, byId: ReadonlyMap<string, Seat>, live: ReadonlyMap<string, Live>): Live | undefined {
  const seen = new Set<string>();
  for (let at: Seat | undefined = seat; at?.parent != null && !seen.has(at.id); at = byId.get(at.parent)) {
    seen.add(at.id);
    const found = live.get(at.parent);
    if (found !== undefined) return found;
  }
  return undefined;
}
