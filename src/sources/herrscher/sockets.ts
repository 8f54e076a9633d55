import { lstatSync } from "node:fs";
import { join } from "node:path";
import { isValidInstanceID } from "./names.ts";

/** The two sockets a client may use (herrscher.md §6). The control sockets are never touched: whoever connects is taken for a bridge. */
export interface SocketPaths {
  command: string;
  events: string;
}

/**
 * Where a daemon of this instance listens: `$TMPDIR`, else `/tmp`; on Windows a named pipe.
 * null for an instance id that is not one, which must not become part of a path.
 */
export function socketPaths(
  env: NodeJS.ProcessEnv,
  instanceID: string,
  platform: NodeJS.Platform = process.platform,
): SocketPaths | null {
  if (instanceID !== "" && !isValidInstanceID(instanceID)) return null;
  const suffix = instanceID === "" ? "" : `-${instanceID}`;
  if (platform === "win32") {
    const pipe = (kind: string): string => `\\\\.\\pipe\\herrscher-${kind}${suffix}`;
    return { command: pipe("command"), events: pipe("events") };
  }
  const directory = env.TMPDIR || "/tmp";
  const socket = (kind: string): string => join(directory, `herrscher-${kind}${suffix}.sock`);
  return { command: socket("command"), events: socket("events") };
}

export type SocketFile = "absent" | "ours" | "foreign";

/** Is there a socket at a path, and is it this user's? Anybody can make one in /tmp: those of others get nothing. */
export function socketFile(path: string): SocketFile {
  if (path.startsWith("\\\\.\\pipe\\")) return "ours";
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return "absent";
  return stat.isSocket() && stat.uid === process.getuid?.() ? "ours" : "foreign";
}

/** Changes when a daemon starts or ends: the inode of the socket's file, null when there is none. */
export function socketInode(path: string): number | null {
  return lstatSync(path, { throwIfNoEntry: false })?.ino ?? null;
}
