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
  const pairs = pairsOf(running, processes);
  for (const process of running) {
    const named = program.named(process, byId);
    if (named === null && !pairs.doubles.has(process)) byFolder.push(process);
    else if (named !== null && named !== "other") byName.set(named.id, [...(byName.get(named.id) ?? []), process]);
  }
  for (const [id, all] of byName) {
    const [process] = all;
    if (process === undefined) continue;
    const evidence = `process ${process.pid} has it on its command line`;
    live.set(id, { process, evidence, guess: false, openTwice: openTwice(all, processes) });
  }
  seatByFolder(
    byFolder.map((process) => commandOf(process, pairs, program)),
    seats,
    live,
  );
  for (const seat of seats) {
    const of = seat.parent === null || !seat.open ? undefined : ancestorOf(seat, byId, live);
    if (of === undefined || live.has(seat.id)) continue;
    const evidence = `process ${of.process.pid} runs the session that started it`;
    live.set(seat.id, { process: of.process, evidence, guess: true, openTwice: [] });
  }
  return live;
}

/** A process that names no session, as far as its folder's sessions concern it. */
interface Command {
  process: Process;
  /** ms: when its launcher began, if it has one. */
  startedAt: number | null;
  /** Did an agent start it in its own folder? */
  isStarted: boolean;
  /** The only kind of the tool's stores it serves; null: any. */
  store: string | null;
}

function commandOf(process: Process, { launchers, started }: Pairs, program: Program): Command {
  const command = { process, startedAt: process.startedAt ?? null, isStarted: false };
  for (let at: Process | undefined = process; at !== undefined; at = launchers.get(at)) {
    command.startedAt = at.startedAt ?? command.startedAt;
    command.isStarted ||= started.has(at);
  }
  return { ...command, store: program.stores?.(process) ?? null };
}

/** Gives each its folder's newest session. Who has the fewest to choose from chooses first. */
function seatByFolder(commands: Command[], seats: readonly Seat[], live: Map<string, Live>): void {
  // The latest to start has few, one that serves a single store fewer, and what an agent started none that is older.
  commands.sort(
    (a, b) =>
      Number(b.isStarted) - Number(a.isStarted) ||
      Number(a.store === null) - Number(b.store === null) ||
      (b.process.startedAt ?? 0) - (a.process.startedAt ?? 0) ||
      b.process.pid - a.process.pid,
  );
  for (const command of commands) {
    const seat = newestFor(command, seats, live);
    if (seat === null) continue;
    const { process } = command;
    const evidence = `process ${process.pid} runs in its folder, and it is the newest session there`;
    live.set(seat.id, { process, evidence, guess: true, openTwice: [] });
  }
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

function newestFor(
  { process, startedAt, isStarted, store }: Command,
  seats: readonly Seat[],
  live: ReadonlyMap<string, Live>,
): Seat | null {
  let newest: Seat | null = null;
  for (const seat of seats) {
    if (process.cwd === null || seat.cwd !== process.cwd || seat.parent !== null || live.has(seat.id)) continue;
    if (store !== null && seat.store !== store) continue;
    if (startedAt !== null && (seat.updatedAt ?? 0) < startedAt) continue;
    // Older ones may be those of the agent that started it.
    if (isStarted && !hasBegunSince(seat, startedAt)) continue;
    if (newest === null || (seat.updatedAt ?? 0) > (newest.updatedAt ?? 0)) newest = seat;
  }
  return newest;
}

function hasBegunSince({ createdAt }: Seat, since: number | null): boolean {
  return since !== null && createdAt != null && createdAt >= since;
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
