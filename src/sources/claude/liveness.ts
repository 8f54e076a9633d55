import { basename } from "node:path";
import { argvOption } from "../../probe/argv-option.ts";
import { openTwice } from "../../probe/open-twice.ts";
import type { Process, ProcessTable } from "../../probe/processes.ts";
import type { Registered } from "./registry.ts";

/** Why a process is believed to run a session. */
export interface Live {
  process: Process;
  registered: Registered | null;
  /** In words. */
  evidence: string;
  /** By its folder alone. */
  guess: boolean;
  /** Where it is open when more than one process has it; else empty. */
  openTwice: string[];
}

/** Is this the process that wrote the file, and not another one that got its pid? */
export function isAlive(one: Registered, processes: ProcessTable): Process | null {
  const process = processes.byPid.get(one.pid);
  if (process === undefined) return null;
  const { startTicks } = process;
  // Ticks compare only with ticks: elsewhere than on Linux the start is a date, and the name has to do.
  if (one.procStart !== null && startTicks !== null && /^\d+$/u.test(one.procStart)) {
    return one.procStart === startTicks ? process : null;
  }
  return isClaude(process) ? process : null;
}

export function isClaude(process: Process): boolean {
  if (process.comm === "claude") return true;
  const [program, script] = process.argv;
  if (program !== undefined && basename(program) === "claude") return true;
  return script !== undefined && /(?:^|\/)claude(?:-code\/cli\.[cm]?js)?$/u.test(script);
}

export interface Seat {
  id: string;
  cwd: string | null;
  updatedAt: number | null;
}

/**
 * Which process runs which session (agents.md §0, §1.6): the registry, else the id on a command line, else, where no
 * registry is written at all, the folder: its newest session that was written since the process started.
 */
export function findLive(
  seatsNow: () => readonly Seat[],
  registered: readonly Registered[],
  registryExists: boolean,
  processes: ProcessTable,
): Map<string, Live> {
  const live = new Map<string, Live>();
  const taken = new Set<number>();
  const holders = new Map<string, Process[]>();
  const hold = (id: string, process: Process): void => {
    holders.set(id, [...(holders.get(id) ?? []), process]);
  };
  for (const one of registered) {
    const process = isAlive(one, processes);
    if (process === null) continue;
    taken.add(process.pid);
    hold(one.sessionId, process);
    const before = live.get(one.sessionId)?.registered ?? null;
    if (before !== null && (before.statusAt ?? 0) >= (one.statusAt ?? 0)) continue;
    live.set(one.sessionId, {
      process,
      registered: one,
      evidence: `process ${process.pid} is alive${one.procStart === null ? "" : " with the start time it registered"}`,
      guess: false,
      openTwice: [],
    });
  }
  const others = processes.all.filter((process) => !taken.has(process.pid) && isClaude(process));
  if (others.length === 0) return withTwice(live, holders, processes);
  const seats = seatsNow();
  const ids = new Set(seats.map((seat) => seat.id));
  const byFolder: Process[] = [];
  for (const process of others) {
    const id = argvOption(process.argv, "--resume", "-r", "--session-id");
    if (id !== null && ids.has(id) && !process.argv.includes("--fork-session")) {
      hold(id, process);
      if (!live.has(id)) {
        live.set(id, {
          process,
          registered: null,
          evidence: `process ${process.pid} has it on its command line`,
          guess: false,
          openTwice: [],
        });
      }
    } else if (id === null) byFolder.push(process);
  }
  withTwice(live, holders, processes);
  if (registryExists) return live;
  for (const process of byFolder) {
    const seat = newestIn(process, seats, live);
    if (seat === null) continue;
    live.set(seat.id, {
      process,
      registered: null,
      evidence: `process ${process.pid} runs in its folder, and it is the newest session there`,
      guess: true,
      openTwice: [],
    });
  }
  return live;
}

function withTwice(
  live: Map<string, Live>,
  holders: ReadonlyMap<string, readonly Process[]>,
  processes: ProcessTable,
): Map<string, Live> {
  for (const [id, all] of holders) {
    const one = live.get(id);
    if (one !== undefined && all.length > 1) live.set(id, { ...one, openTwice: openTwice(all, processes) });
  }
  return live;
}

/** What was last written before a process started is not what it works on. */
function newestIn(process: Process, seats: readonly Seat[], live: ReadonlyMap<string, Live>): Seat | null {
  const { cwd } = process;
  const since = process.startedAt ?? Number.NEGATIVE_INFINITY;
  let newest: Seat | null = null;
  for (const seat of seats) {
    if (cwd === null || seat.cwd !== cwd || (seat.updatedAt ?? 0) < since) continue;
    if (newest === null || (seat.updatedAt ?? 0) > (newest.updatedAt ?? 0)) newest = seat;
  }
  return newest !== null && live.has(newest.id) ? null : newest;
}
