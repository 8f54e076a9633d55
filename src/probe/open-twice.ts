import type { Process, ProcessTable } from "./processes.ts";

const MOST_ANCESTORS = 64;

/**
 * Where a session is open when more than one of these processes has it: one place a process, in words. A launcher and
 * what it started are one. Empty when it is open once, or not at all.
 */
export function openTwice(processes: readonly Process[], table: ProcessTable): string[] {
  const all = new Map(processes.map((one) => [one.pid, one]));
  for (const one of processes) for (const launcher of ancestorsOf(one, table)) all.delete(launcher);
  if (all.size < 2) return [];
  return [...all.values()].sort((a, b) => a.pid - b.pid).map(placeOf);
}

function placeOf({ pid, tty }: Process): string {
  return tty === null ? `process ${pid}` : `process ${pid} on ${tty}`;
}

function ancestorsOf(process: Process, table: ProcessTable): Set<number> {
  const found = new Set<number>();
  for (let at = process.ppid; at !== null && found.size < MOST_ANCESTORS && !found.has(at); ) {
    found.add(at);
    at = table.byPid.get(at)?.ppid ?? null;
  }
  found.delete(process.pid);
  return found;
}
