import type { FoldedFiles } from "../files/folded-files.ts";
import type { Evidence, ProbeName } from "../probe/evidence.ts";
import type { Document } from "../session/document.ts";
import type { Entry } from "../session/entry.ts";
import type { SessionKey } from "../session/key.ts";
import type { Problem } from "../session/problem.ts";
import type { ResumeCommand, Snapshot } from "../session/snapshot.ts";
import type { StatusName } from "../session/status.ts";
import type { ModelRequest } from "../usage/request.ts";

/**
 * The contract every tool fulfils (design §2). Adding a tool is one folder with a `source.ts` that exports one of
 * these, one line in `sources/index.ts`, and one in `sources/folds.ts` for each of its folds. Nothing outside the folder may
 * know the format.
 */
export interface Source {
  /** The first part of every key: `statefile`, `codebot`, … */
  name: string;
  /** For people: `Mainplane`, `Claude Code`. */
  title: string;
  /** What its statuses need to see of the machine. */
  probes: readonly ProbeName[];
  /** Does it learn from `Services.directories`? Then it is asked once more when all sources have been read. */
  needsDirectories?: boolean;
  /** Where to look without flags, honouring the tool's own variables. Absolute paths; they may not exist. */
  defaultRoots(env: NodeJS.ProcessEnv): string[];
  /** A reader over all roots of this source at once, because copies and twins lie across roots. */
  open(roots: readonly Root[], services: Services): SourceReader;
}

/** One directory of a source. */
export interface Root {
  source: string;
  /** 1-based among the roots of its source; part of the key. */
  index: number;
  /** Absolute. */
  path: string;
  /** Asked for by flag or config: then its absence is a problem, else it is normal. */
  explicit: boolean;
}

export interface Services {
  files: FoldedFiles;
  env: NodeJS.ProcessEnv;
  /** What of a session the person has looked at, by key: our own memory, never beside the tool's files. */
  seen(key: SessionKey): string | null;
  /** The session we ourselves copied this one from, null when we did not make it. */
  copiedFrom(key: SessionKey): SessionKey | null;
  /** The directories in which sessions of any source worked, as far as they have been read. */
  directories(): Iterable<string>;
}

/** What changed. Snapshots are whole; an unchanged one is not repeated. */
export interface Delta {
  changed: Snapshot[];
  removed: SessionKey[];
  /** All problems of this source as they are now, or null when they did not change. */
  problems: Problem[] | null;
  /** When a status may change by the clock alone, ms since 1970: `tick` is called then. null: never. */
  recheckAt: number | null;
}

export const NO_CHANGE: Delta = { changed: [], removed: [], problems: null, recheckAt: null };

/** A directory to watch. Files are never watched one by one. */
export interface Watched {
  path: string;
  /** How many levels of directories below `path` matter: 0 is `path` itself. */
  depth: number;
  /** Which files matter, by absolute path; the rest is not even looked at. */
  matters(path: string): boolean;
}

export interface SourceReader {
  /** May grow after a scan: asked again after every delta. */
  watched(): Watched[];
  /** Everything there is, newest first where that can be known cheaply, in batches so that a screen fills at once. */
  scan(evidence: Evidence): AsyncIterable<Delta>;
  /** Files that were added, changed or removed, by absolute path. */
  apply(paths: readonly string[], evidence: Evidence): Promise<Delta>;
  /** Looks again at what depends on time, processes or panes. Reads no session file. */
  tick(evidence: Evidence): Delta;
  /** Changes that come from elsewhere than files (a daemon's socket). Returns how to stop listening. */
  onLive?(listener: (delta: Delta) => void): () => void;
  /** Views besides the transcript ones, in the order of their tabs; only those this session can fill. */
  views(id: SessionKey): ViewName[];
  transcript(key: SessionKey): Promise<Transcript>;
  /**
   * Files whose bytes hold this session's text, for a search's first look; null: there are none (a database, a compressed
   * file), and only the transcript tells.
   */
  files?(key: SessionKey): string[] | null;
  /** Conversations beside the session's own that are no sessions themselves: members', sub-agents'. */
  members?(key: SessionKey): MemberText[];
  document(key: SessionKey, view: ViewName): Promise<Document>;
  /** The model requests behind the session's numbers, sub-agents' included. */
  requests(key: SessionKey): Promise<ModelRequest[]>;
  fork: ForkAbility | null;
  /** Says what to run, or why it cannot be. */
  resume(key: SessionKey): Promise<ResumeAnswer>;
  /** What this tool alone can do to this session. */
  actions(key: SessionKey): SourceAction[];
  close(): Promise<void>;
}

/** `timeline` and `context` are transcripts, `branch` one of another branch, member or sub-agent; the rest are documents. */
export type ViewName =
  | "timeline"
  | "context"
  | "branches"
  | "usage"
  | "events"
  | "tasks"
  | "plan"
  | "goal"
  | "team"
  | "history"
  | "info";

/** A transcript of the view `branch`, and the files that hold its text as `files` says them. */
export interface MemberText {
  of: string;
  files: string[] | null;
}

/** Entries on demand. Unchanged entries keep their object, so that their layout is kept too. */
export interface Transcript {
  page(request: PageRequest): Promise<Page>;
  close(): void;
}

export interface PageRequest {
  view: "timeline" | "context" | "branch";
  /** Which branch (its leaf's ref), member or sub-agent, for the view `branch`. */
  of?: string;
  /** Where the page lies: at an end of the view, next to a cursor, or beginning with an entry. */
  at: { edge: "start" | "end" } | { before: Cursor } | { after: Cursor } | { ref: string };
  /** Most entries. */
  limit: number;
  /** Most bytes of text in one entry; without it, whole. */
  textLimit?: number;
}

/** A place between two entries. Opaque to all but the source that made it. */
export type Cursor = string;

export interface Page {
  entries: Entry[];
  /** Where the page before and after this one lies. */
  before: Cursor;
  after: Cursor;
  atStart: boolean;
  atEnd: boolean;
  /** Entries of the whole view, null when counting them would mean reading everything. */
  total: number | null;
  /** Where the format has one (statefile: the next step's `upto`). */
  nextUpto: number | null;
}

export interface ForkAbility {
  /** Looks whether a fork that ends just before `before` (null: all of it) leaves a healthy session. Writes nothing. */
  plan(key: SessionKey, before: string | null): Promise<ForkPlan>;
  /** Makes it: complete and verified before it can be seen, the original untouched, nothing left after a failure. */
  make(key: SessionKey, before: string | null): Promise<Forked>;
}

export type ForkPlan =
  | {
      allowed: true;
      /** Exactly what will happen, line by line. */
      says: string[];
      /** What has to be agreed to first (the copy would run by itself …), null when nothing. */
      ask: string | null;
      /** Status the new session will have. */
      status: StatusName;
    }
  | { allowed: false; reason: string };

export interface Forked {
  key: SessionKey;
  id: string;
  path: string;
  resume: ResumeCommand | null;
  /** What the person should know now. */
  notes: string[];
}

export type ResumeAnswer =
  | {
      ok: true;
      command: ResumeCommand;
      /** Things to know before it runs (warnings of the format's spec, backups made). */
      notes: string[];
      /** Runs just before the launch: the back-up that Gemini needs. Returns what it did. */
      prepare?: () => Promise<string[]>;
    }
  | { ok: false; reason: string };

/** Something only this tool can do to a session: relay, set a budget, claim a task. Asked first, always. */
export interface SourceAction {
  /** Dotted, stable: `questmaster.relay`. */
  id: string;
  title: string;
  /** Offered on a row of this document view, with the row's target. */
  view?: ViewName;
  /** Why it cannot be done now, null when it can. */
  disabled: string | null;
  inputs: ActionInput[];
  /** Exactly what will happen, for the question. */
  says(values: Record<string, string>, target: string | null): string[];
  /** Does it; returns what was done. Throws an error whose message says what went wrong and what to do. */
  run(values: Record<string, string>, target: string | null): Promise<string[]>;
}

export interface ActionInput {
  name: string;
  label: string;
  /** Given: one of these. */
  choices?: string[];
  initial?: string;
  /** What is wrong with a value, null when nothing. */
  check?(value: string): string | null;
}
