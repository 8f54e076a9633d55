import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Root, Source } from "./source.ts";

/** `--root source=DIR`, taken apart. */
export interface RootFlag {
  source: string;
  path: string;
}

/** Throws with the right way to say it. `cwd` is what a relative directory is taken from. */
export function parseRootFlag(text: string, sources: readonly Source[], cwd: string): RootFlag {
  const [, source, path] = /^([a-z][a-z0-9-]*)=(.+)$/su.exec(text) ?? [];
  if (source === undefined || path === undefined) {
    throw new Error(`--root ${text}: say it as --root SOURCE=DIR, for example --root ${sources[0]?.name}=./sessions`);
  }
  if (!sources.some((one) => one.name === source)) {
    throw new Error(`--root ${text}: there is no source ${source}; there are ${sources.map((s) => s.name).join(", ")}`);
  }
  return { source, path: resolve(cwd, path) };
}

/**
 * The roots to read: those that were asked for replace the defaults of their source, and so name the only places.
 * `only`: without any flag for a source, leave its defaults out (a demo shows nothing but itself).
 */
export function resolveRoots(
  sources: readonly Source[],
  flags: readonly RootFlag[],
  env: NodeJS.ProcessEnv,
  only = false,
): Root[] {
  return sources.flatMap((source) => {
    const asked = flags.filter((flag) => flag.source === source.name).map((flag) => flag.path);
    if (asked.length > 0) return asRoots(source.name, [...new Set(asked)], true);
    return only ? [] : asRoots(source.name, defaults(source, env), false);
  });
}

/** The default places that are there; else the first one, which may appear later. */
function defaults(source: Source, env: NodeJS.ProcessEnv): string[] {
  const places = [...new Set(source.defaultRoots(env))];
  const there = places.filter((path) => existsSync(path));
  return there.length > 0 ? there : places.slice(0, 1);
}

function asRoots(source: string, paths: string[], explicit: boolean): Root[] {
  return paths.map((path, at) => ({ source, index: at + 1, path, explicit }));
}
