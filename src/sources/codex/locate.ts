import type { Problem } from "../../session/problem.ts";
import { type Found, locateFiles } from "../agents/locate-files.ts";
import type { Root } from "../source.ts";
import { LOCK_DIRECTORY } from "./locks.ts";
import { type Place, placeOf } from "./threads.ts";

/** `sessions/YYYY/MM/DD/` is the deepest that rollouts lie. */
const DEEPEST = 4;

/** Every file below a root that matters. Looks at directories and times, reads no file. */
export function locate(root: Root): Promise<{ found: Found<Place>[]; problems: Problem[] }> {
  return locateFiles(root, (path) => placeOf(root.path, path), descends);
}

function descends(name: string, depth: number): boolean {
  if (depth === 0) return name === "sessions" || name === "archived_sessions" || name === LOCK_DIRECTORY;
  return depth < DEEPEST && /^\d{2,4}$/u.test(name);
}
