/** What of `/proc/<pid>/stat` names and places a process. */
export interface ProcStat {
  ppid: number;
  /** Field 22, as text: with the pid it names a process for good. */
  startTicks: string;
  /** Controlling terminal, `/dev/pts/3`, null when it has none. */
  tty: string | null;
  comm: string;
}

/** proc(5): `pid (comm) state ppid pgrp session tty_nr … starttime`; comm may hold spaces and brackets. */
export function parseStat(stat: string): ProcStat | null {
  const open = stat.indexOf("(");
  const close = stat.lastIndexOf(")");
  if (open < 0 || close < open) return null;
  const fields = stat.slice(close + 2).split(" ");
  const ppid = Number(fields[1]);
  const startTicks = fields[19];
  if (!Number.isInteger(ppid) || startTicks === undefined) return null;
  return { ppid, startTicks, tty: ttyName(Number(fields[4])), comm: stat.slice(open + 1, close) };
}

/** Device number → name, for the two kinds of terminal an agent runs in: pseudo-terminals and the console. */
function ttyName(device: number): string | null {
  if (!Number.isInteger(device) || device === 0) return null;
  const major = (device >> 8) & 0xfff;
  const minor = (device & 0xff) | ((device >> 12) & 0xfff00);
  if (major >= 136 && major <= 143) return `/dev/pts/${(major - 136) * 256 + minor}`;
  return major === 4 ? `/dev/tty${minor}` : null;
}
