import { findKept, restoreSession } from "../actions/restore.ts";
import { type Kept, keptSessions } from "../memory/kept.ts";
import { stateDirectory } from "../memory/state-directory.ts";
import { cleanLine, cutCodePoints, jsonText } from "../session/untrusted.ts";
import { print, type SharedOptions } from "./context.ts";

/** `forktail kept [--json]`: the sessions of which we keep a copy. */
export async function kept(options: SharedOptions): Promise<number> {
  const damaged: string[] = [];
  const all = keptSessions(stateDirectory(process.env), (directory) => damaged.push(directory));
  if (options.json) await print(jsonText({ schema: 1, kept: all, damaged }, 2));
  else {
    const lines = all.map(keptLine);
    for (const directory of damaged) lines.push(cleanLine(`its manifest.json cannot be read: ${directory}`));
    if (lines.length === 0) lines.push("nothing is kept; forktail keep KEY keeps a compressed copy of a session");
    await print(lines.join("\n"));
  }
  return 0;
}

function keptLine(one: Kept): string {
  const stored = one.files.reduce((sum, file) => sum + file.stored, 0);
  const earlier = one.earlier.length === 0 ? "" : `, ${one.earlier.length} earlier`;
  const size = `${(stored / 1000).toFixed(1)} kB${earlier}`;
  return [one.keptAt, cleanLine(one.key), size, cutCodePoints(cleanLine(one.title), 60)].join("  ");
}

export interface RestoreOptions extends SharedOptions {
  from?: string;
}

/** `forktail restore KEY [--from TIME] [--json]`: puts a kept session's files back where nothing is. */
export async function restore(options: RestoreOptions, key: string): Promise<number> {
  const restored = await restoreSession(findKept(stateDirectory(process.env), key, options.from ?? null));
  const { files, there } = restored;
  if (options.json) await print(jsonText({ schema: 1, key: restored.kept.key, files, there }, 2));
  else {
    const lines = [
      ...files.map((path) => `restored ${path}`),
      ...there.map((path) => `was there already, not touched: ${path}`),
      `resume it with forktail resume ${restored.kept.key}`,
    ];
    await print(lines.map(cleanLine).join("\n"));
  }
  return 0;
}
