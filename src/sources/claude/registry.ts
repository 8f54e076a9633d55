import { field, numberField, textField } from "../jsonl/record.ts";
import { readSmallJson } from "../jsonl/small-json.ts";

/** What a running Claude Code says of itself in `sessions/<pid>.json` (agents.md §1.6). */
export interface Registered {
  pid: number;
  sessionId: string;
  /** Start of the process: on Linux field 22 of its stat, as text. null when the file has none. */
  procStart: string | null;
  /** idle, busy, waiting, shell; null for hosts that never write it. */
  status: string | null;
  waitingFor: string | null;
  statusAt: number | null;
  kind: string | null;
  entrypoint: string | null;
  path: string;
}

export const REGISTRY_FILE = /^[1-9][0-9]{0,9}\.json$/u;

/** One registry file, null when it is none. It outlives a crash: nothing in it is true before the process is checked. */
export function readRegistered(path: string): Registered | null {
  const of = readSmallJson(path);
  const pid = numberField(of, "pid");
  const sessionId = textField(of, "sessionId");
  if (pid === null || !Number.isInteger(pid) || pid <= 0 || sessionId === null) return null;
  const start = field(of, "procStart");
  return {
    pid,
    sessionId,
    procStart: typeof start === "string" ? start : typeof start === "number" ? String(start) : null,
    status: textField(of, "status"),
    waitingFor: textField(of, "waitingFor"),
    statusAt: numberField(of, "statusUpdatedAt") ?? numberField(of, "updatedAt"),
    kind: textField(of, "kind"),
    entrypoint: textField(of, "entrypoint"),
    path,
  };
}
