import { goJson } from "../../files/go-json.ts";
import { CannotOpen, openRegular } from "../../files/open.ts";
import { appendLines } from "./atomic.ts";
import { intOf, isObject, type JsonObject, parseObject, textOf } from "./json.ts";
import { readJsonLines } from "./jsonl.ts";

/** Most prompts that are recalled for a project (codebot.md §12). */
export const MOST_RECALLED = 500;

/** One line of the prompt history of all projects. */
export interface HistoryEntry {
  display: string;
  /** Paste bodies by number; `{}` in 0.3. */
  pastedContents: JsonObject;
  /** ms since 1970. */
  timestamp: number;
  /** The working directory, compared as a whole. */
  project: string;
  /** `""` when not recorded. */
  sessionId: string;
}

/** A history file: entries in file order, and how many lines are no entry (a torn tail counts as one). */
export interface HistoryFile {
  entries: HistoryEntry[];
  malformed: number;
}

/** Reads a history file and changes nothing. A missing one is empty. Throws `CannotOpen` for others. */
export function readHistory(path: string): HistoryFile {
  try {
    using file = openRegular(path);
    const { lines, tail, oversize } = readJsonLines(file);
    const entries: HistoryEntry[] = [];
    let malformed = oversize.length + (tail?.valid === false ? 1 : 0);
    for (const { text } of lines) {
      const entry = readHistoryEntry(text);
      if (entry === null) malformed += 1;
      else entries.push(entry);
    }
    return { entries, malformed };
  } catch (error) {
    if (error instanceof CannotOpen && error.kind === "gone") return { entries: [], malformed: 0 };
    throw error;
  }
}

function readHistoryEntry(text: string): HistoryEntry | null {
  const value = parseObject(text);
  if (value === null) return null;
  for (const key of ["display", "project", "sessionId"]) {
    if (value[key] !== undefined && value[key] !== null && typeof value[key] !== "string") return null;
  }
  return {
    display: textOf(value, "display"),
    pastedContents: isObject(value.pastedContents) ? value.pastedContents : {},
    timestamp: intOf(value, "timestamp"),
    project: textOf(value, "project"),
    sessionId: textOf(value, "sessionId"),
  };
}

/** What recall offers for a project: newest first, each text once, at most 500 (codebot.md §12). */
export function recall(entries: readonly HistoryEntry[], project: string, most = MOST_RECALLED): HistoryEntry[] {
  const seen = new Set<string>();
  const recalled: HistoryEntry[] = [];
  for (let at = entries.length - 1; at >= 0 && recalled.length < most; at--) {
    const entry = entries[at];
    if (entry === undefined || entry.project !== project || entry.display === "" || seen.has(entry.display)) continue;
    seen.add(entry.display);
    recalled.push(entry);
  }
  return recalled;
}

/** The prompts of one project, in a file shared by all projects and processes: only ever appended to. */
export class History {
  readonly #path: string;
  readonly #project: string;
  #sessionId: string;
  #items: string[];

  constructor(path: string, project: string, sessionId = "") {
    this.#path = path;
    this.#project = project;
    this.#sessionId = sessionId;
    this.#items = recall(readHistory(path).entries, project).map(({ display }) => display);
  }

  /** Appends a prompt; one that was there already moves to the front. An empty one is nothing. */
  add(text: string, pastedContents: JsonObject = {}): void {
    if (text === "") return;
    this.#items = [text, ...this.#items.filter((item) => item !== text)].slice(0, MOST_RECALLED);
    const line = {
      display: text,
      pastedContents,
      timestamp: Date.now(),
      project: this.#project,
      ...(this.#sessionId === "" ? {} : { sessionId: this.#sessionId }),
    };
    appendLines(this.#path, `${goJson(line)}\n`);
  }

  /** 0 is the newest; `""` beyond the end. */
  get(index: number): string {
    return this.#items[index] ?? "";
  }

  len(): number {
    return this.#items.length;
  }

  /** For entries from now on. */
  setSessionID(id: string): void {
    this.#sessionId = id;
  }
}
