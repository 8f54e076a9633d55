import { lstat, mkdir, rmdir, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { openRegular } from "../files/open.ts";
import { fingerprint, piecesOf, unpacked, verifyPacked } from "../files/packed.ts";
import { AlreadyExists, publishNew } from "../files/publish.ts";
import { type Kept, type KeptFile, keptSessions, readKept, storedPath } from "../memory/kept.ts";
import { cleanLine } from "../session/untrusted.ts";

export interface Restored {
  kept: Kept;
  /** Made anew. */
  files: string[];
  /** Something was there already: not touched. */
  there: string[];
}

/** The kept session of a key, or of an id that only one has; `at`: an earlier state of it. Throws with what to do. */
export function findKept(stateDirectory: string, text: string, at: string | null = null): Kept {
  const all = keptSessions(stateDirectory);
  const exact = all.filter((one) => one.key === text);
  const found = exact.length > 0 ? exact : all.filter((one) => one.id === text);
  const [first, second] = found;
  if (!first) throw new Error(`nothing is kept of ${text}; see forktail kept`);
  if (second)
    throw new Error(
      `${text} is the id of ${found.length} kept sessions; say which: ${found.map((one) => one.key).join(", ")}`,
    );
  if (at === null || at === first.keptAt) return first;
  const earlier = readKept(first.directory, at);
  if (earlier !== null) return earlier;
  const times = [first.keptAt, ...first.earlier].join(", ");
  throw new Error(`nothing was kept of ${first.key} at ${at}; there is ${times}`);
}

/**
 * Puts a kept session's files back where they were: only where nothing is, each one complete and compared before it can be
 * seen and again afterwards. After a failure nothing of it is left. Their times are new on purpose: by the old ones the
 * session's own tool would delete them again at once.
 */
export async function restoreSession(kept: Kept): Promise<Restored> {
  for (const file of kept.files) await verifyPacked(storedPath(kept.directory, file), file);
  const there: string[] = [];
  const missing: KeptFile[] = [];
  // The main file last: a tool that sees it finds the rest in its place.
  for (const file of [...kept.files].reverse()) {
    if (await isThere(file.path)) there.push(file.path);
    else missing.push(file);
  }
  if (missing.length === 0) throw new Error(`${cleanLine(kept.key)} is there: nothing had to be restored`);
  const made: string[] = [];
  const directories: string[] = [];
  try {
    for (const file of missing) {
      directories.push(...(await makeDirectories(dirname(file.path))));
      if (await restoreFile(kept, file)) made.push(file.path);
      else there.push(file.path);
      await compare(file, made);
    }
  } catch (error) {
    for (const path of made) await unlink(path).catch(() => undefined);
    for (const path of directories.reverse()) await rmdir(path).catch(() => undefined);
    throw error;
  }
  return { kept, files: made.reverse(), there: there.reverse() };
}

/** False: something appeared there in the meantime. */
async function restoreFile(kept: Kept, file: KeptFile): Promise<boolean> {
  const pieces = unpacked(storedPath(kept.directory, file), file);
  const verify = async (temporary: string): Promise<void> => check(temporary, file);
  try {
    await publishNew(file.path, pieces, { mode: file.mode, verify });
    return true;
  } catch (error) {
    if (error instanceof AlreadyExists) return false;
    throw error;
  }
}

async function compare(file: KeptFile, made: readonly string[]): Promise<void> {
  if (made.includes(file.path)) await check(file.path, file);
}

async function check(path: string, file: KeptFile): Promise<void> {
  using opened = openRegular(path);
  const print = await fingerprint(piecesOf(opened, opened.size));
  if (print.sha256 !== file.sha256)
    throw new Error(`${cleanLine(path)} was written otherwise than it was kept; taken back`);
}

/** Returns the directories it made, outermost first. */
async function makeDirectories(path: string): Promise<string[]> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return [];
  const made: string[] = [];
  for (let at = path; at.length >= first.length; at = dirname(at)) made.unshift(at);
  return made;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "ENOENT") return false;
    throw new Error(`${cleanLine(path)} cannot be looked at (${String(code)}): free the way to it first`);
  }
}
