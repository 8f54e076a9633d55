import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import type { Problem } from "../../session/problem.ts";
import { byModified, type Found, locateFiles } from "../agents/locate-files.ts";
import { objectField } from "../jsonl/record.ts";
import { readSmallJson, readSmallText } from "../jsonl/small-json.ts";
import type { Root } from "../source.ts";
import { CHAT_FILE, SESSION_ID } from "./ids.ts";

/** Where Gemini CLI keeps chats (agents.md §5.1). */
export function geminiRoots(env: NodeJS.ProcessEnv): string[] {
  const home = env.GEMINI_CLI_HOME || env.HOME || homedir();
  return [resolve(home, ".gemini", "tmp")];
}

/** `child`: a sub-agent's file, in a folder named by its parent's id. */
export type Place =
  | { kind: "chat"; project: string }
  | { kind: "child"; project: string; parent: string }
  | { kind: "project-root"; project: string };

export function placeOf(root: string, path: string): Place | null {
  if (!path.startsWith(root + sep)) return null;
  const [project = "", folder, name, child, ...more] = path.slice(root.length + 1).split(sep);
  if (more.length > 0) return null;
  if (folder === ".project_root" && name === undefined) return { kind: "project-root", project };
  if (folder !== "chats" || name === undefined) return null;
  if (child === undefined) return CHAT_FILE.test(name) ? { kind: "chat", project } : null;
  return SESSION_ID.test(name) && /\.jsonl?$/u.test(child) ? { kind: "child", project, parent: name } : null;
}

/** `projects.json`, which lies beside the root. */
export function projectsFile(root: string): string {
  return join(dirname(root), "projects.json");
}

/** Every chat below a root, newest first. Looks at directories and times, reads no chat. */
export async function locate(root: Root): Promise<{ found: Found<Place>[]; problems: Problem[] }> {
  const descends = (name: string, depth: number) =>
    depth === 0 || (depth === 1 && name === "chats") || (depth === 2 && SESSION_ID.test(name));
  const { found, problems } = await locateFiles(root, (path) => placeOf(root.path, path), descends);
  return { found: found.sort(byModified), problems };
}

/** Which directory a project's folder stands for. Folders of older versions only tell a hash of it (agents.md §5.1). */
export class ProjectPaths {
  readonly #root: string;
  /** Folder → path: what `projects.json` says. */
  #listed = new Map<string, string>();
  readonly #written = new Map<string, string | null>();
  /** Hash → path. */
  readonly #hashes = new Map<string, string>();
  /** The paths that were hashed: most are told again and again. */
  readonly #known = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Reads what the program says of its folders again. */
  refresh(): void {
    this.#written.clear();
    this.#listed = new Map();
    const projects = objectField(readSmallJson(projectsFile(this.#root)), "projects") ?? {};
    for (const [path, folder] of Object.entries(projects)) {
      if (!isAbsolute(path)) continue;
      this.add(path);
      if (typeof folder === "string" && !this.#listed.has(folder)) this.#listed.set(folder, path);
    }
  }

  /** A directory that may be one of those that are only known by their hash. */
  add(path: string): boolean {
    if (this.#known.has(path)) return false;
    this.#known.add(path);
    const hash = createHash("sha256").update(path).digest("hex");
    this.#hashes.set(hash, path);
    return true;
  }

  pathOf(project: string, hash: string | null): { path: string; from: string } | null {
    const written = this.#projectRoot(project);
    if (written !== null) return { path: written, from: ".project_root" };
    const listed = this.#listed.get(project);
    if (listed !== undefined) return { path: listed, from: "projects.json" };
    const hashed = this.#hashes.get(project) ?? this.#hashes.get(hash ?? "");
    return hashed === undefined ? null : { path: hashed, from: "a path with this hash" };
  }

  #projectRoot(project: string): string | null {
    const known = this.#written.get(project);
    if (known !== undefined) return known;
    const name = basename(project) === project ? project : "";
    const text = readSmallText(join(this.#root, name, ".project_root"), 16 * 1024)?.replace(/[\r\n]+$/u, "") ?? null;
    const path = text !== null && isAbsolute(text) ? text : null;
    this.#written.set(project, path);
    if (path !== null) this.add(path);
    return path;
  }
}
