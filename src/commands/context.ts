import type { ActionContext } from "../actions/fork.ts";
import { Live, type Sink } from "../live/live.ts";
import { type Config, loadConfig } from "../memory/config.ts";
import { Memory } from "../memory/memory.ts";
import { configFile, stateDirectory } from "../memory/state-directory.ts";
import { joinSessions } from "../session/join.ts";
import type { SessionKey } from "../session/key.ts";
import { parseKey } from "../session/key.ts";
import type { Problem } from "../session/problem.ts";
import { byNewest, type Snapshot } from "../session/snapshot.ts";
import { SOURCES } from "../sources/index.ts";
import { parseRootFlag, type RootFlag, resolveRoots } from "../sources/roots.ts";
import type { Root, SourceReader } from "../sources/source.ts";
import { WrongUsage } from "./wrong-usage.ts";

/** Options that every command takes. */
export interface SharedOptions {
  root?: string[];
  config?: string;
  poll?: boolean;
  json?: boolean;
  all?: boolean;
}

/** What a command works with: config, memory, roots and the readers over them. */
export interface Workplace extends ActionContext {
  config: Config;
  roots: Root[];
}

/** Opens config, memory and readers; nothing is read yet. `only`: no default places. Throws `WrongUsage`, `BadConfig`. */
export async function openWorkplace(
  options: SharedOptions,
  extra: { env?: NodeJS.ProcessEnv; roots?: RootFlag[]; only?: boolean } = {},
): Promise<Workplace> {
  const env = extra.env ?? process.env;
  const config = loadConfig(options.config ?? configFile(env));
  const flags = [...rootFlags(options, config, extra.only), ...(extra.roots ?? [])];
  const roots = resolveRoots(SOURCES, flags, env, extra.only);
  const memory = new Memory(stateDirectory(env));
  const live = new Live({ sources: SOURCES, roots, memory, env, poll: options.poll ?? config.poll ?? false });
  return { config, roots, memory, live, env };
}

/**
 * The roots asked for by flag, and for the sources that no flag names those of the config file; `only`: not these. Throws
 * `WrongUsage`.
 */
export function rootFlags(options: SharedOptions, config: Config, only = false): RootFlag[] {
  const flags = (options.root ?? []).map(flagOf);
  const named = new Set(flags.map((flag) => flag.source));
  for (const [source, paths] of Object.entries(config.roots ?? {})) {
    if (!SOURCES.some((one) => one.name === source))
      throw new WrongUsage(`config: roots: there is no source ${source}`);
    if (!named.has(source) && !only) flags.push(...paths.map((path) => ({ source, path })));
  }
  return flags;
}

function flagOf(text: string): RootFlag {
  try {
    return parseRootFlag(text, SOURCES, process.cwd());
  } catch (error) {
    throw new WrongUsage(error instanceof Error ? error.message : String(error));
  }
}

/** Everything there is at one moment. */
export interface Everything {
  sessions: Map<SessionKey, Snapshot>;
  problems: Problem[];
}

/** Reads everything once. */
export async function readEverything(place: Workplace): Promise<Everything> {
  const sessions = new Map<SessionKey, Snapshot>();
  const problems = new Map<string, Problem[]>();
  const sink: Sink = {
    commit(source, delta) {
      for (const snapshot of delta.changed) sessions.set(snapshot.key, snapshot);
      for (const key of delta.removed) sessions.delete(key);
      if (delta.problems !== null) problems.set(source, delta.problems);
    },
    trouble: () => undefined,
    scanned: () => undefined,
  };
  await place.live.scan(sink);
  return { sessions, problems: [...problems.values()].flat() };
}

export interface Listed {
  sessions: Snapshot[];
  /** Left out, by reason; never silently. */
  hidden: { internal: number; superseded: number };
}

/** What `list` shows: newest first, without sub-agents, internal and superseded sessions unless all are asked for. */
export function listed(sessions: ReadonlyMap<SessionKey, Snapshot>, memory: Memory, all: boolean): Listed {
  const shown: Snapshot[] = [];
  const hidden = { internal: 0, superseded: 0 };
  for (const snapshot of joinSessions(sessions).sessions.values()) {
    const folded = memory.get("superseded", snapshot.key) !== null || memory.get("withdrawn", snapshot.key) !== null;
    if (!all && folded) hidden.superseded += 1;
    else if (!all && (snapshot.hidden || memory.get("hidden", snapshot.key))) hidden.internal += 1;
    else shown.push(snapshot);
  }
  return { sessions: shown.sort(byNewest), hidden };
}

/** The session a person named: a key, or an id that only one session has. Throws `WrongUsage` with what would fit. */
export function findSession(sessions: ReadonlyMap<SessionKey, Snapshot>, text: string): Snapshot {
  const exact = sessions.get(text);
  if (exact) return exact;
  const found = [...sessions.values()].filter((one) => one.id === text);
  const [first, second] = found;
  if (first && !second) return first;
  if (first) {
    throw new WrongUsage(
      `${text} is the id of ${found.length} sessions; say which: ${found.map((s) => s.key).join(", ")}`,
    );
  }
  if (parseKey(text) === null)
    throw new WrongUsage(`${text} is not a session key (SOURCE:ID) nor a known id; see forktail list`);
  throw new Error(`there is no session ${text}; see forktail list --all`);
}

/** Reads everything and finds one session of it. */
export async function openSession(
  options: SharedOptions,
  key: string,
): Promise<{ place: Workplace; snapshot: Snapshot; reader: SourceReader }> {
  const place = await openWorkplace(options);
  const { sessions } = await readEverything(place);
  const snapshot = findSession(sessions, key);
  return { place, snapshot, reader: place.live.reader(snapshot.key) };
}

/** Writes to standard output and waits until it is taken: a pipe that reads slowly must not lose the end. */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text.endsWith("\n") ? text : `${text}\n`, (error) => {
      // The reader has seen enough (`| head`): nothing is wrong.
      if (error && "code" in error && error.code === "EPIPE") return resolve();
      if (error) return reject(error);
      resolve();
    });
  });
}
