import { join, relative, sep } from "node:path";
import type { Watched } from "../source.ts";
import { isSessionId } from "./ids.ts";
import { historyFile, plansDirectory, projectsDirectory, tasksDirectory } from "./layout.ts";

/** What a path under a `.codebot` directory is to us. */
export type Place =
  | { is: "session"; project: string; name: string }
  | { is: "project"; project: string }
  | { is: "projects" }
  | { is: "tasks"; id: string }
  | { is: "all-tasks" }
  | { is: "plan"; slug: string }
  | { is: "history" };

/** null for what is none of our business: settings, approvals, audit log, snapshots. */
export function placeOf(root: string, path: string): Place | null {
  const parts = relative(root, path).split(sep);
  const [top = "", second, third, ...rest] = parts;
  switch (top) {
    case "projects":
      if (second === undefined) return { is: "projects" };
      if (third === undefined) return { is: "project", project: second };
      return rest.length === 0 && isSessionName(third) ? { is: "session", project: second, name: third } : null;
    case "tasks":
      if (second === undefined) return { is: "all-tasks" };
      return isSessionId(second) ? { is: "tasks", id: second } : null;
    case "plans":
      return second?.endsWith(".md") && third === undefined
        ? { is: "plan", slug: second.slice(0, -".md".length) }
        : null;
    case "history.jsonl":
      return second === undefined ? { is: "history" } : null;
    default:
      return null;
  }
}

/** codebot lists every `*.jsonl` of a project directory; dot-files are unfinished copies. */
export function isSessionName(name: string): boolean {
  return name.endsWith(".jsonl") && !name.startsWith(".");
}

/** The directories to watch: only the parts we read, so that codebot's shadow repositories are never walked. */
export function watchedOf(root: string): Watched[] {
  const isIn = (kinds: readonly Place["is"][]) => (path: string) => {
    const place = placeOf(root, path);
    return place !== null && kinds.includes(place.is);
  };
  return [
    { path: projectsDirectory(root), depth: 1, matters: isIn(["session"]) },
    { path: tasksDirectory(root), depth: 3, matters: (path) => isTaskFile(root, path) },
    { path: plansDirectory(root), depth: 0, matters: isIn(["plan"]) },
    { path: root, depth: 0, matters: (path) => path === historyFile(root) },
  ];
}

/** Numbered tasks, the mark, the roster and the members' conversations; never the temporary files of a write. */
function isTaskFile(root: string, path: string): boolean {
  const [id = "", ...rest] = relative(tasksDirectory(root), path).split(sep);
  if (!isSessionId(id)) return false;
  const inside = rest.join("/");
  return (
    /^[0-9]+\.json$/u.test(inside) ||
    inside === ".highwatermark" ||
    inside === "team/roster.json" ||
    /^team\/transcripts\/[^./][^/]*\.jsonl$/u.test(inside)
  );
}

export function projectDirectory(root: string, project: string): string {
  return join(projectsDirectory(root), project);
}
