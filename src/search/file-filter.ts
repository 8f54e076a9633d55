import { runSliced } from "../files/fold.ts";
import type { RawPatterns } from "./raw-patterns.ts";
import { ripgrep } from "./ripgrep.ts";
import { FileScanner } from "./scan-file.ts";
import { ScanPool } from "./scan-pool.ts";

/** Which of some files may hold what is looked for, and how many bytes were read to know (by ripgrep: all of them). */
export interface Passing {
  files: Set<string>;
  bytes: number;
}

export interface SizedFile {
  path: string;
  bytes: number;
}

/** A first look at raw bytes. Passes too many files rather than too few. */
export interface FileFilter {
  passing(files: readonly SizedFile[]): Promise<Passing>;
  close(): void;
}

/** In this thread, in slices: for little. */
export function scanHere(patterns: RawPatterns): FileFilter {
  const scanner = new FileScanner(patterns);
  let turn: Promise<unknown> = Promise.resolve();
  const look = async (files: readonly SizedFile[]): Promise<Passing> => {
    const found: Passing = { files: new Set(), bytes: 0 };
    for (const { path } of files) {
      const { passes, bytes } = await runSliced(scanner.scan(path));
      found.bytes += bytes;
      if (passes) found.files.add(path);
    }
    return found;
  };
  return {
    // One buffer: one batch after another.
    passing(files) {
      const looked = turn.then(() => look(files));
      turn = looked.catch(() => undefined);
      return looked;
    },
    close: () => undefined,
  };
}

/** In other threads; what they cannot do is done here. */
export function scanInThreads(patterns: RawPatterns, signal: AbortSignal, pool = new ScanPool(patterns)): FileFilter {
  const here = scanHere(patterns);
  return {
    async passing(files) {
      try {
        const { passing, bytes } = await pool.scan(files.map(({ path }) => path));
        return { files: new Set(passing), bytes };
      } catch {
        return signal.aborted ? { files: new Set(), bytes: 0 } : here.passing(files);
      }
    },
    close: () => pool.close(),
  };
}

/** By ripgrep, for the most telling group; where it does not answer, as `otherwise` does. */
export function scanByRipgrep(
  program: string,
  patterns: RawPatterns,
  otherwise: () => FileFilter,
  signal: AbortSignal,
): FileFilter {
  const [texts = []] = patterns;
  let fallback: FileFilter | null = null;
  return {
    async passing(files) {
      const paths = files.map(({ path }) => path);
      const found = await ripgrep(program, texts, paths, signal).catch(() => null);
      if (found !== null) return { files: new Set(found), bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
      if (signal.aborted) return { files: new Set(), bytes: 0 };
      fallback ??= otherwise();
      return fallback.passing(files);
    },
    close: () => fallback?.close(),
  };
}
