import { readdir, readFile, readlink } from "node:fs/promises";
import { z } from "zod";
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

/** The processes of this machine from /proc; of others only what they let us see. Throws where there is no /proc. */
export async function processesFromProc(root = "/proc"): Promise<ProcessTable> {
  const names = (await readdir(root)).filter((name) => /^[0-9]+$/u.test(name));
  const booted = await bootTime(root);
  const rows = await Promise.all(names.map((name) => readProcess(root, Number(name), booted)));
  return processTable(rows.filter((row) => row !== null));
}

/** Ticks of a second in what /proc shows programs, on every Linux in use. */
const TICKS = 100;

/** When the machine started, ms since 1970: `btime` of proc(5); null when it is not there. */
async function bootTime(root: string): Promise<number | null> {
  const stat = await readFile(`${root}/stat`, "utf8").catch(() => "");
  const seconds = /^btime (\d{1,12})$/mu.exec(stat)?.[1];
  return seconds === undefined ? null : Number(seconds) * 1000;
}

async function readProcess(root: string, pid: number, booted: number | null): Promise<Process | null> {
  const at = `${root}/${pid}`;
  try {
    const [stat, cmdline, cwd] = await Promise.all([
      readFile(`${at}/stat`, "utf8"),
      readFile(`${at}/cmdline`, "utf8").catch(() => ""),
      readlink(`${at}/cwd`).catch(() => null),
    ]);
    const parsed = parseStat(stat);
    if (parsed === null) return null;
    const argv = cmdline.replace(/\0+$/u, "").split("\0");
    const startedAt = booted === null ? null : booted + (Number(parsed.startTicks) * 1000) / TICKS;
    return { pid, ...parsed, argv: argv[0] === "" ? [] : argv, cwd, locksHeld: [], startedAt };
  } catch {
    return null; // It ended while we looked.
  }
}
