import { mkdir, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { openRegular } from "../../files/open.ts";
import { AlreadyExists, publishNew } from "../../files/publish.ts";
import { stateDirectory } from "../../memory/state-directory.ts";
import { CHAT_FILE, SESSION_ID } from "./ids.ts";

/**
 * Copies everything Gemini's clean-up could take with it: a resume may leave a start-only twin, and the next start
 * deletes all files of the same eight characters, chats of sub-agents too (agents.md §8). Returns where the copies are
 * and how many. Throws when one could not be made: then nothing should be launched.
 */
export async function backUpChat(
  chat: { path: string; id: string },
  env: NodeJS.ProcessEnv,
  now: number,
): Promise<{ directory: string; files: number }> {
  const { path: own, id } = chat;
  const found = await filesOf(own, id);
  if (!found.includes(own)) throw new Error(`no chat of ${id} is left in ${dirname(own)}`);
  const time = new Date(now).toISOString().replace(/[:.]/gu, "-");
  const directory = join(stateDirectory(env), "gemini-backups", id, time);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  let files = 0;
  for (const path of found) {
    const parent = basename(dirname(path));
    const to = SESSION_ID.test(parent) ? join(directory, parent) : directory;
    await mkdir(to, { recursive: true, mode: 0o700 });
    await copyChat(path, join(to, basename(path)));
    files += 1;
  }
  return { directory, files };
}

/** A chat may have been given another id since its file was named: what has either's eight characters. */
async function filesOf(own: string, id: string): Promise<string[]> {
  const chats = dirname(own);
  const shorts = new Set([id.slice(0, 8), CHAT_FILE.exec(basename(own))?.[2] ?? ""].map((one) => one.toLowerCase()));
  const names = await readdir(chats);
  const same = names.filter((name) => shorts.has((/-([^-]+)\.jsonl?$/u.exec(name)?.[1] ?? "-").toLowerCase()));
  const found = same.map((name) => join(chats, name));
  for (const parent of names) {
    if (!SESSION_ID.test(parent) || !shorts.has(parent.slice(0, 8).toLowerCase())) continue;
    const children = await readdir(join(chats, parent)).catch(() => []);
    found.push(...children.filter((name) => /\.jsonl?$/u.test(name)).map((name) => join(chats, parent, name)));
  }
  return found.sort();
}

const PIECE = 1024 * 1024;

/** A copy of the bytes that are there now, of a regular file only; of the same moment there may be one already. */
async function copyChat(from: string, to: string): Promise<void> {
  using file = openRegular(from);
  const pieces = function* (): Generator<Uint8Array> {
    for (let at = 0; at < file.size; at += PIECE) yield file.read(at, Math.min(PIECE, file.size - at));
  };
  try {
    await publishNew(to, pieces(), { mode: 0o600 });
  } catch (error) {
    if (!(error instanceof AlreadyExists)) throw error;
  }
}
