import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";

export type Listing = { ok: true; entries: Dirent[] } | { ok: false; kind: "gone" | "unreadable"; message: string };

/** The entries of one directory, sorted by name so that nothing depends on the file system's order. */
export async function listDirectory(path: string): Promise<Listing> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return { ok: true, entries: entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)) };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "ENOENT") return { ok: false, kind: "gone", message: "no such directory" };
    if (code === "ENOTDIR") return { ok: false, kind: "unreadable", message: "not a directory" };
    if (code === "EACCES" || code === "EPERM") {
      return { ok: false, kind: "unreadable", message: "no permission to list it: change its mode or its owner" };
    }
    return { ok: false, kind: "unreadable", message: `cannot be listed (${code || String(error)})` };
  }
}
