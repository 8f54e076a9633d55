import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { isAbsolute, join, normalize } from "node:path";
import * as z from "zod";
import { CannotOpen, openRegular } from "../files/open.ts";
import { parseKey, type SessionKey } from "../session/key.ts";

/** A file of a kept session, as it was. */
const keptFile = z.object({
  /** Where it lay. Our own state is read with the same distrust as any file: this becomes a path again. */
  path: z.string().refine((path) => isAbsolute(path) && normalize(path) === path && !path.includes("\0")),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/u),
  mode: z.int().min(0).max(0o777),
  mtime: z.string(),
  /** Size of the compressed copy. */
  stored: z.int().nonnegative(),
});

/** `manifest.json` of a kept session. The copies lie beside it, each named by what it holds. */
const manifestShape = z.object({
  schema: z.literal(1),
  key: z.string(),
  source: z.string(),
  id: z.string(),
  title: z.string(),
  cwd: z.string().nullable(),
  /** When it was kept, and when it was last written before, ISO 8601. */
  keptAt: z.string(),
  updatedAt: z.string().nullable(),
  compression: z.literal("zstd"),
  /** The session's main file first. */
  files: z.array(keptFile).min(1),
});

export type KeptFile = z.infer<typeof keptFile>;
export type Manifest = z.infer<typeof manifestShape>;

export interface Kept extends Manifest {
  /** The directory that holds manifest and copies. */
  directory: string;
  /** When earlier states were kept that a later one does not contain, newest first. */
  earlier: string[];
}

const MANIFEST = "manifest.json";
const EARLIER = /^manifest-([0-9]{8}T[0-9]{6}\.[0-9]{3}Z)\.json$/u;
const MOST_MANIFEST = 16 * 1024 * 1024;
/** Ids that are file names as they are; others are hashed. No `~` and no dot in front, no separator. */
const PLAIN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/u;

/** `kept/<source>/<id>` in the state directory. Throws when the key is none. */
export function keptDirectory(stateDirectory: string, key: SessionKey): string {
  const parts = parseKey(key);
  if (parts === null) throw new Error(`${key} is not a session key`);
  const source = key.slice(0, key.indexOf(":"));
  const name = PLAIN_ID.test(parts.id)
    ? parts.id
    : `~${createHash("sha256").update(parts.id).digest("hex").slice(0, 40)}`;
  return join(stateDirectory, "kept", source, name);
}

export function storedPath(directory: string, file: Pick<KeptFile, "sha256">): string {
  return join(directory, `${file.sha256}.zst`);
}

export function manifestPath(directory: string): string {
  return join(directory, MANIFEST);
}

/** Where the manifest of an earlier state lies that a later one does not contain. */
export function earlierPath(directory: string, keptAt: string): string {
  return join(directory, `manifest-${keptAt.replaceAll(/[-:]/gu, "")}.json`);
}

/** What is kept of a session, null when nothing is, or its manifest is damaged. `at`: an earlier state, by its time. */
export function readKept(directory: string, at: string | null = null): Kept | null {
  try {
    using file = openRegular(at === null ? manifestPath(directory) : earlierPath(directory, at));
    if (file.size > MOST_MANIFEST) return null;
    const parsed = manifestShape.safeParse(JSON.parse(file.read(0, file.size).toString("utf8")));
    if (!parsed.success) return null;
    return { ...parsed.data, directory, earlier: earlierTimes(directory) };
  } catch (error) {
    if (error instanceof CannotOpen || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Every kept session, last kept first. `damaged` hears of directories whose manifest cannot be read. */
export function keptSessions(stateDirectory: string, damaged?: (directory: string) => void): Kept[] {
  const top = join(stateDirectory, "kept");
  const directories = namesIn(top).flatMap((source) =>
    namesIn(join(top, source)).map((name) => join(top, source, name)),
  );
  const found = directories.flatMap((directory) => {
    const kept = readKept(directory);
    if (kept === null) damaged?.(directory);
    return kept ?? [];
  });
  return found.sort((a, b) => (a.keptAt < b.keptAt ? 1 : a.keptAt > b.keptAt ? -1 : a.key < b.key ? -1 : 1));
}

function earlierTimes(directory: string): string[] {
  const times = namesIn(directory).flatMap((name) => EARLIER.exec(name)?.[1] ?? []);
  return times.sort().reverse().map(spelledOut);
}

/** `20261120T120000.000Z` → `2026-11-20T12:00:00.000Z`. */
function spelledOut(time: string): string {
  const [day, clock] = [time.slice(0, 8), time.slice(9)];
  return `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T${clock.slice(0, 2)}:${clock.slice(2, 4)}:${clock.slice(4)}`;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
