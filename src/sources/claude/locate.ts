import { sep } from "node:path";
import type { Problem } from "../../session/problem.ts";
import { type Found, locateFiles } from "../agents/locate-files.ts";
import type { Root } from "../source.ts";
import { agentIdOf, SESSION_ID, sessionIdOf } from "./ids.ts";
import { REGISTRY_FILE } from "./registry.ts";

/** Sub-agents may have sub-agents of their own, workflows too: how deep below a session is looked. */
const MOST_DEPTH = 64;
const AGENT_META = /^agent-([A-Za-z0-9_-]{1,128})\.meta\.json$/u;

/** What a path below a root is (agents.md §1.1). */
export type Place =
  | { kind: "session"; project: string; id: string }
  /** `session` null: beside the sessions (2.0.x), its records say whose it is. */
  | { kind: "agent"; project: string; session: string | null; agent: string }
  | { kind: "agent-meta"; project: string; session: string; agent: string }
  | { kind: "title" | "archived"; project: string; session: string }
  | { kind: "registry" };

export function placeOf(root: string, path: string): Place | null {
  if (!path.startsWith(root + sep)) return null;
  const parts = path.slice(root.length + 1).split(sep);
  const name = parts.at(-1) ?? "";
  if (parts.length === 2 && parts[0] === "sessions") return REGISTRY_FILE.test(name) ? { kind: "registry" } : null;
  const project = parts[1];
  if (parts[0] !== "projects" || project === undefined || parts.length < 3) return null;
  if (parts.length === 3) {
    const id = sessionIdOf(name);
    if (id !== null) return { kind: "session", project, id };
    const agent = agentIdOf(name);
    return agent === null ? null : { kind: "agent", project, session: null, agent };
  }
  const session = parts[2] ?? "";
  if (!SESSION_ID.test(session)) return null;
  if (parts.length === 4 && name === "custom-title.json") return { kind: "title", project, session };
  if (parts.length === 4 && name === "archived.json") return { kind: "archived", project, session };
  if (parts[3] !== "subagents" || parts.length < 5 || parts.length > MOST_DEPTH + 5) return null;
  const agent = agentIdOf(name);
  if (agent !== null) return { kind: "agent", project, session, agent };
  const meta = AGENT_META.exec(name)?.[1];
  return meta === undefined ? null : { kind: "agent-meta", project, session, agent: meta };
}

/** Every file below a root that matters. Looks at directories and times, reads no file. */
export function locate(root: Root): Promise<{ found: Found<Place>[]; problems: Problem[] }> {
  return locateFiles(root, (path) => placeOf(root.path, path), descends);
}

/** `projects/<folder>/<session>/subagents/**` and `sessions/`; nothing else below a root is looked at. */
function descends(name: string, depth: number): boolean {
  switch (depth) {
    case 0:
      return name === "projects" || name === "sessions";
    case 1:
      return true;
    case 2:
      return SESSION_ID.test(name);
    case 3:
      return name === "subagents";
    default:
      return depth < MOST_DEPTH + 3;
  }
}

/** Sessions by the time of their newest file, each with the files of its sub-agents. */
export function newestFirst(found: readonly Found<Place>[]): Found<Place>[][] {
  const groups = new Map<string, { newest: number; files: Found<Place>[] }>();
  for (const one of found) {
    const { place, mtimeMs } = one;
    const id = place.kind === "session" ? place.id : place.kind === "agent" ? (place.session ?? one.path) : null;
    if (id === null) continue;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, { newest: mtimeMs, files: [one] });
    else {
      group.newest = Math.max(group.newest, mtimeMs);
      group.files.push(one);
    }
  }
  return [...groups.values()].sort((a, b) => b.newest - a.newest).map((group) => group.files);
}
