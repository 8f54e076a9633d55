import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { AlreadyExists, publishNew, replaceFile } from "../files/publish.ts";
import type { Root } from "../sources/source.ts";

export interface ExportFileOptions {
  /** Replaces a file that is there. */
  force: boolean;
  /** Directories of the tools: nothing is written into them (design §7.2). */
  roots: readonly Root[];
}

/** Only the person's own: transcripts hold what nobody else should read. */
const MODE = 0o600;
const BLOCK = 256 * 1024;

/** The file cannot be written; the message says why and what to do. */
export class CannotExport extends Error {
  override name = "CannotExport";
}

/**
 * Writes an export as a new file that is whole before it can be seen. Returns its absolute path and size in bytes.
 * Throws `CannotExport`; then nothing was written.
 */
export async function exportToFile(
  chunks: AsyncIterable<string>,
  path: string,
  options: ExportFileOptions,
): Promise<{ path: string; bytes: number }> {
  const target = await placeOf(path);
  for (const root of options.roots) {
    const inside = await realpath(root.path).catch(() => root.path);
    if (target === inside || target.startsWith(inside + sep)) {
      throw new CannotExport(`${path} lies among the sessions of ${root.source}: choose another place`);
    }
  }
  const there = await lstat(target).catch(() => null);
  if (options.force && there !== null && !there.isFile()) {
    throw new CannotExport(`${path} is a directory, a link or a special file: choose another place`);
  }
  let bytes = 0;
  const blocks = async function* (): AsyncGenerator<Uint8Array, void, void> {
    for await (const block of gathered(chunks)) {
      bytes += block.length;
      yield block;
    }
  };
  try {
    if (options.force) await replaceFile(target, blocks(), { mode: MODE });
    else await publishNew(target, blocks(), { mode: MODE });
  } catch (error) {
    if (error instanceof AlreadyExists) throw new CannotExport(`${path} is there already; --force replaces it`);
    const code = error instanceof Error && "code" in error ? String(error.code) : null;
    if (code === null) throw error;
    throw new CannotExport(`${path} cannot be written (${code}): choose another place`);
  }
  return { path: target, bytes };
}

/** The absolute path, with its directory's links resolved. */
async function placeOf(path: string): Promise<string> {
  const absolute = resolve(path);
  const directory = await realpath(dirname(absolute)).catch(() => null);
  if (directory === null) throw new CannotExport(`${dirname(absolute)}: no such directory; make it first`);
  return join(directory, basename(absolute));
}

/** Few large writes instead of many small ones. */
async function* gathered(chunks: AsyncIterable<string>): AsyncGenerator<Buffer, void, void> {
  let held: string[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    size += chunk.length;
    if (size < BLOCK) continue;
    yield Buffer.from(held.join(""));
    held = [];
    size = 0;
  }
  if (size > 0) yield Buffer.from(held.join(""));
}
