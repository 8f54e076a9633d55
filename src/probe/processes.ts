import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import * as z from "zod";
import { parseStat } from "./proc-stat.ts";

export interface Process {
  pid: number;
  ppid: number | null;
  /** Field 22 of `/proc/<pid>/stat`, as text: with the pid it names a process for good. null where the system has no such number. */
  startTicks: string | null;
  /** Controlling terminal, `/dev/pts/3`, null when it has none or it is not known. */
  tty: string | null;
  comm: string;
  argv: string[];
  cwd: string | null;
  /** Files it holds a lock on, only in a table given by a file. */
  locksHeld: string[];
  /** When it started, ms since 1970; missing or null where that is not known. */
  startedAt?: number | null;
}

export interface ProcessTable {
  byPid: Map<number, Process>;
  all: Process[];
}

export function processTable(all: Process[]): ProcessTable {
  return { all, byPid: new Map(all.map((one) => [one.pid, one])) };
}

const fileShape = z.object({
  processes: z.array(
    z.object({
      pid: z.number().int(),
      ppid: z.number().int().optional(),
      startTicks: z.union([z.number(), z.string()]).optional(),
      tty: z.string().optional(),
      comm: z.string().default(""),
      argv: z.array(z.string()).optional(),
      cwd: z.string().optional(),
      locksHeld: z.array(z.string()).optional(),
      startedAt: z.string().optional(),
    }),
  ),
});

/** The table in a file: what `FORKTAIL_PROCESSES` names, for tests and screenshots. Throws when it is not one. */
export async function processesFromFile(path: string): Promise<ProcessTable> {
  const parsed = fileShape.parse(JSON.parse(await readFile(path, "utf8")));
  return processTable(
    parsed.processes.map((one) => ({
      pid: one.pid,
      ppid: one.ppid ?? null,
      startTicks: one.startTicks === undefined ? null : String(one.startTicks),
      tty: one.tty ?? null,
      comm: one.comm,
      argv: one.argv ?? [one.comm],
      cwd: one.cwd ?? null,
      locksHeld: one.locksHeld ?? [],
      startedAt: Date.parse(one.startedAt ?? "") || null,
    })),
  );
}

/**
 * The processes of this machine from /proc; of others only what they let us see. Throws where there is no /proc. What a
 * process is called with does not change: it is only read of those that `before` does not have.
 */
export function processesFromProc(root = "/proc", before: ProcessTable | null = null): ProcessTable {
  const booted = bootTime(root);
  const rows: Process[] = [];
  for (const name of readdirSync(root)) {
    if (!/^[0-9]+$/u.test(name)) continue;
    const pid = Number(name);
    const row = readProcess(root, pid, booted, before?.byPid.get(pid) ?? null);
    if (row !== null) rows.push(row);
  }
  return processTable(rows);
}

/** Ticks of a second in what /proc shows programs, on every Linux in use. */
const TICKS = 100;

/** When the machine started, ms since 1970: `btime` of proc(5); null when it is not there. */
function bootTime(root: string): number | null {
  const seconds = /^btime (\d{1,12})$/mu.exec(textOf(`${root}/stat`) ?? "")?.[1];
  return seconds === undefined ? null : Number(seconds) * 1000;
}

/** Read at once, not awaited: these files are memory, and three hundred of them are milliseconds. */
function readProcess(root: string, pid: number, booted: number | null, before: Process | null): Process | null {
  const at = `${root}/${pid}`;
  const parsed = parseStat(textOf(`${at}/stat`) ?? "");
  if (parsed === null) return null; // It ended while we looked.
  const cwd = linkOf(`${at}/cwd`);
  // The program's name and arguments are new after exec, which keeps pid and start.
  const same = before !== null && before.startTicks === parsed.startTicks && before.comm === parsed.comm;
  if (same && before.cwd === cwd && before.tty === parsed.tty && before.ppid === parsed.ppid) return before;
  const argv = (textOf(`${at}/cmdline`) ?? "").replace(/\0+$/u, "").split("\0");
  const startedAt = booted === null ? null : booted + (Number(parsed.startTicks) * 1000) / TICKS;
  return { pid, ...parsed, argv: argv[0] === "" ? [] : argv, cwd, locksHeld: [], startedAt };
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
