import { lstatSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { advanceFile, type Folded, runNow } from "../../files/fold.ts";
import { listDirectory } from "../../files/list-directory.ts";
import { CannotOpen } from "../../files/open.ts";
import { BadJson } from "../../files/raw-json.ts";
import { sessionKey } from "../../session/key.ts";
import type { Problem } from "../../session/problem.ts";
import { cleanLine } from "../../session/untrusted.ts";
import type { Root } from "../source.ts";
import { classify } from "./classify.ts";
import { isValidPartyID } from "./ids.ts";
import type { StateFile } from "./judge.ts";
import { type LogHealth, logHealthFold, MOST_HEALTH_BYTES } from "./log-health.ts";
import { type Manifest, parseManifest } from "./manifest.ts";
import { manifestPath, sessionStateLogPath, sessionStatePath } from "./paths.ts";
import { readSmallFile, TooLarge } from "./read-small.ts";
import { type RepoColor, readRepoColors } from "./root-files.ts";
import { parseSessionState, SCHEMA_VERSION } from "./session-state.ts";
import { type Held, NAME } from "./snapshot.ts";

/** A file that cannot be parsed and changed this recently may be in the middle of a copy: it is read once more (questmaster.md §9). */
const FRESH_MS = 2000;
const RETRY_MS = 150;

/** What a change in the root touches. */
export type Touched = { kind: "manifest" | "state" | "log"; id: string } | { kind: "repo-colors" } | { kind: "bad-id" };

/** Which file of a root a path is; null for all that is passed over: locks, temporary files, other names. */
export function touchedBy(root: Root, path: string): Touched | null {
  const parts = relative(root.path, path).split(sep);
  const [first = "", second] = parts;
  if (parts.length === 1) {
    const entry = classify(first);
    if (entry.kind === "manifest") return { kind: "manifest", id: entry.id };
    return entry.kind === "repo-colors" || entry.kind === "bad-id" ? { kind: entry.kind } : null;
  }
  if (parts.length !== 2 || !isValidPartyID(first)) return null;
  if (second === "state.json") return { kind: "state", id: first };
  return second === "state.jsonl" ? { kind: "log", id: first } : null;
}

/** One state root: which sessions it holds, and what is wrong in it. Takes no lock and writes nothing. */
export class RootReader {
  readonly root: Root;
  readonly held = new Map<string, Held>();
  repoColors: ReadonlyMap<string, RepoColor> = new Map();
  /** Raised when something changed that other sessions' rows depend on: a manifest, a colour. */
  kinVersion = 0;
  readonly #problems = new Map<string, Problem>();
  /** Session directories that were seen; those without a manifest are counted in a problem. */
  readonly #directories = new Set<string>();
  readonly #health = new Map<string, Folded<LogHealth>>();
  #problemList: Problem[] | null = null;

  constructor(root: Root) {
    this.root = root;
  }

  /** The ids of the root's manifests, the newest files first. */
  async list(): Promise<string[]> {
    this.kinVersion += 1;
    this.#problemList = null;
    this.#problems.clear();
    this.#directories.clear();
    const listing = await listDirectory(this.root.path);
    if (!listing.ok) {
      if (this.root.explicit || listing.kind !== "gone") this.#problem(this.root.path, listing.kind, listing.message);
      return [];
    }
    const found: { id: string; mtimeMs: number }[] = [];
    for (const { name } of listing.entries) {
      const path = join(this.root.path, name);
      const entry = classify(name);
      if (entry.kind === "bad-id") this.#badID(path);
      else if (entry.kind === "session") this.#directories.add(entry.id);
      else if (entry.kind === "manifest") {
        found.push({ id: entry.id, mtimeMs: lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 });
      }
    }
    this.repoColors = readRepoColors(this.root.path);
    for (const id of this.held.keys()) if (!found.some((one) => one.id === id)) this.held.delete(id);
    return found.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.id < b.id ? 1 : -1)).map((one) => one.id);
  }

  /** Reads everything of one session. */
  async read(id: string): Promise<void> {
    await this.readManifest(id);
    await this.readState(id);
    this.readLog(id);
  }

  async readManifest(id: string): Promise<void> {
    this.kinVersion += 1;
    this.#problemList = null;
    const path = manifestPath(this.root.path, id);
    const before = this.held.get(id);
    this.#problems.delete(path);
    const read = await this.#parsed(path, (text) => parseManifest(id, text));
    if (read.kind === "ok") {
      this.#directories.add(id);
      this.held.set(id, this.#hold(id, path, read.value, before));
      return;
    }
    if (read.kind === "gone") {
      this.held.delete(id);
      this.#health.delete(id);
      return;
    }
    const torn = read.problem === "bad-json";
    const fate = torn && before ? "its last good value is shown" : "it is not listed";
    this.#problem(path, torn ? "bad-manifest" : read.problem, `${read.message}: ${fate}; mend or remove the file`);
    if (before && torn) this.held.set(id, { ...before, manifestDamaged: true });
    else this.held.delete(id);
  }

  #hold(id: string, path: string, manifest: Manifest, before: Held | undefined): Held {
    const known = before ?? {
      key: sessionKey(NAME, this.root.index, id),
      root: this.root,
      id,
      path,
      stateFile: { kind: "missing" as const },
      logBytes: 0,
      logHealth: null,
    };
    return { ...known, manifest, manifestDamaged: false };
  }

  async readState(id: string): Promise<void> {
    const held = this.held.get(id);
    this.#problemList = null;
    this.#directories.add(id);
    if (!held) return;
    const path = sessionStatePath(this.root.path, id);
    this.#problems.delete(path);
    const read = await this.#parsed(path, parseSessionState);
    // Its manifest may have gone while this file was read.
    const now = this.held.get(id);
    if (now) this.held.set(id, { ...now, stateFile: this.#stateFile(path, read) });
  }

  #stateFile(path: string, read: Parsed<ReturnType<typeof parseSessionState>>): StateFile {
    if (read.kind === "gone") return { kind: "missing" };
    if (read.kind === "bad") {
      const kind = read.problem === "bad-json" ? "bad-state" : read.problem;
      this.#problem(path, kind, `${read.message}: hooks never repair it; its status is unknown`);
      return { kind: "damaged", message: read.message };
    }
    const { version } = read.value;
    if (version !== SCHEMA_VERSION && version !== 0) {
      this.#problem(path, "foreign-version", `version ${version}, we know ${SCHEMA_VERSION}: its status is unknown`);
    }
    return { kind: "ok", state: read.value };
  }

  readLog(id: string): void {
    const held = this.held.get(id);
    if (!held) return;
    const path = sessionStateLogPath(this.root.path, id);
    const size = lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
    let health: LogHealth | null = null;
    if (size > 0 && size <= MOST_HEALTH_BYTES) {
      const read = runNow(advanceFile(logHealthFold, path, this.#health.get(id) ?? null));
      if (read.ok) {
        this.#health.set(id, read.folded);
        health = structuredClone(read.folded.state);
      }
    } else this.#health.delete(id);
    this.held.set(id, { ...held, logBytes: size, logHealth: health });
  }

  /** Looks whether a file whose name is no session id is there; never into it. */
  checkBadID(path: string): void {
    this.#problemList = null;
    if (lstatSync(path, { throwIfNoEntry: false })) this.#badID(path);
    else this.#problems.delete(path);
  }

  #badID(path: string): void {
    const why = "its name is no session id: questmaster and tmux must not be given it, so it is left out";
    this.#problem(path, "bad-id", why);
  }

  readColors(): void {
    this.kinVersion += 1;
    this.repoColors = readRepoColors(this.root.path);
  }

  /** Everything that could not be read, in a fixed order; the same array while nothing was read. */
  problems(): Problem[] {
    this.#problemList ??= this.#allProblems();
    return this.#problemList;
  }

  #allProblems(): Problem[] {
    const left = [...this.#directories].filter((id) => {
      return !this.held.has(id) && !this.#problems.has(manifestPath(this.root.path, id)) && this.#isDirectory(id);
    });
    const all = [...this.#problems.values()];
    if (left.length > 0) {
      const names = left.sort().slice(0, 5).join(", ") + (left.length > 5 ? ", …" : "");
      all.push({
        source: NAME,
        path: this.root.path,
        kind: "no-manifest",
        message: `${left.length} session directories have no manifest (delete and prune leave them): ${names}`,
      });
    }
    return all.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.kind < b.kind ? -1 : 1));
  }

  #isDirectory(id: string): boolean {
    return lstatSync(join(this.root.path, id), { throwIfNoEntry: false })?.isDirectory() ?? false;
  }

  async #parsed<T>(path: string, parse: (text: string) => T): Promise<Parsed<T>> {
    const first = attempt(path, parse);
    if (first.kind !== "bad" || first.problem !== "bad-json" || Date.now() - first.mtimeMs > FRESH_MS) return first;
    await sleep(RETRY_MS);
    return attempt(path, parse);
  }

  #problem(path: string, kind: string, message: string): void {
    this.#problems.set(path, { source: NAME, path, kind, message: cleanLine(`${basename(path)}: ${message}`) });
  }
}

type Parsed<T> =
  | { kind: "ok"; value: T }
  | { kind: "gone" }
  | { kind: "bad"; problem: string; message: string; mtimeMs: number };

function attempt<T>(path: string, parse: (text: string) => T): Parsed<T> {
  let mtimeMs = 0;
  try {
    const file = readSmallFile(path);
    mtimeMs = file.mtimeMs;
    return { kind: "ok", value: parse(file.text) };
  } catch (error) {
    if (error instanceof CannotOpen && error.kind === "gone") return { kind: "gone" };
    if (error instanceof CannotOpen) return { kind: "bad", problem: error.kind, message: error.message, mtimeMs };
    if (error instanceof TooLarge) return { kind: "bad", problem: "too-large", message: error.message, mtimeMs };
    if (error instanceof BadJson) {
      return { kind: "bad", problem: "bad-json", message: cleanLine(error.message).slice(0, 200), mtimeMs };
    }
    throw error;
  }
}

/** The root a path lies in, by its own directory or the one above. */
export function rootOfPath(readers: readonly RootReader[], path: string): RootReader | undefined {
  const parent = dirname(path);
  return readers.find(({ root }) => root.path === parent || root.path === dirname(parent));
}
