import { dirname, join } from "node:path";
import { openRegular } from "../../files/open.ts";
import { AlreadyExists, publishNew } from "../../files/publish.ts";
import { type SessionKey, sessionKey } from "../../session/key.ts";
import { cleanLine } from "../../session/untrusted.ts";
import type { ForkAbility, Forked, ForkPlan, Root } from "../source.ts";
import { chainTo, entryOf, pathTo } from "./chain-state.ts";
import { buildSnapshot, entryChain } from "./context.ts";
import { contextLength } from "./context-count.ts";
import { parseEntry } from "./entry.ts";
import type { EntryFacts } from "./facts.ts";
import type { SessionState } from "./fold.ts";
import { localDate } from "./go-time.ts";
import { generateId, HEADER_ID } from "./ids.ts";
import { type Header, SESSION_VERSION } from "./payloads.ts";
import { judge } from "./status.ts";
import { headerLine, readSessionFile } from "./store.ts";

/** A session to copy from, brought up to date. */
interface Original {
  root: Root;
  path: string;
  state: SessionState;
}

export interface ForkNeeds {
  original(key: SessionKey): Promise<Original>;
  /** Is an id free among the sessions we know? */
  isFree(root: Root, id: string): boolean;
  /** Would `codebot -c` take a session of this directory that was written to at this moment, ms? */
  isNewest(directory: string, ms: number): boolean;
  /** ms since 1970. */
  now(): number;
}

const MOST_DRAWS = 16;

/** Fork and revert, and the promotion of a branch: a new session file with the path from the header to one entry. */
export interface Forker extends ForkAbility {
  /** The same for the whole path to a leaf: a branch becomes a session of its own. */
  planBranch(key: SessionKey, leaf: string): Promise<ForkPlan>;
  makeBranch(key: SessionKey, leaf: string): Promise<Forked>;
}

export function forker(needs: ForkNeeds): Forker {
  const planned = async (key: SessionKey, end: (state: SessionState) => End) => {
    const original = await needs.original(key);
    return { original, answer: planCopy(original, end(original.state)) };
  };
  const make = async (key: SessionKey, end: (state: SessionState) => End): Promise<Forked> => {
    const { original, answer } = await planned(key, end);
    if (!answer.plan.allowed) throw new Error(`not forked: ${answer.plan.reason}`);
    return copy(needs, original, answer.path);
  };
  return {
    plan: async (key, before) => (await planned(key, (state) => endBefore(state, before))).answer.plan,
    make: (key, before) => make(key, (state) => endBefore(state, before)),
    planBranch: async (key, leaf) => (await planned(key, (state) => endAt(state, leaf))).answer.plan,
    makeBranch: (key, leaf) => make(key, (state) => endAt(state, leaf)),
  };
}

/** The last entry of the copy, or why there is none. */
type End = { leaf: string } | { reason: string };

/** The entry just before the chosen one, on the chosen one's own branch; the current leaf when none is chosen. */
function endBefore(state: SessionState, before: string | null): End {
  if (before === null) return { leaf: state.chain.leaf || HEADER_ID };
  if (before === HEADER_ID) return { reason: "nothing stands before the header: start a new session instead" };
  const entry = entryOf(state.entries, state.index, before);
  if (entry !== undefined) return { leaf: entry.parent };
  const [whole = ""] = before.split(":");
  return entryOf(state.entries, state.index, whole) === undefined
    ? { reason: `there is no entry ${before}` }
    : { reason: `a message is kept or left as a whole: fork before ${whole}` };
}

function endAt(state: SessionState, leaf: string): End {
  return entryOf(state.entries, state.index, leaf) === undefined ? { reason: `there is no entry ${leaf}` } : { leaf };
}

/** Looks whether the copy would be a healthy session. Pure. */
function planCopy(original: Original, end: End): { plan: ForkPlan; path: EntryFacts[] } {
  const refuse = (reason: string) => ({ plan: { allowed: false as const, reason: cleanLine(reason) }, path: [] });
  const { state, path: file } = original;
  const version = state.header?.version ?? 0;
  if (version !== SESSION_VERSION) {
    return refuse(
      `its format is version ${version}: only version ${SESSION_VERSION} is copied, which codebot 0.3 opens`,
    );
  }
  if ("reason" in end) return refuse(end.reason);
  const { path, broken } = pathTo(state.entries, state.index, end.leaf);
  if (broken !== null) return refuse(`its chain of entries is broken at ${broken.at}: codebot could not open the copy`);
  const chain = chainTo(state.entries, state.index, end.leaf);
  const open = chain.context.pending;
  if (open.length > 0) {
    const asks = path.findLast((facts) => askedBy(facts).some((id) => open.includes(id)));
    const many = open.length === 1 ? "1 call" : `${open.length} calls`;
    return refuse(`${many} would be left without results: fork before ${asks?.id ?? "them"}, which asks for them`);
  }
  const kept = chain.compactions === 0 ? "" : `, ${chain.compactions} compactions`;
  const copied: SessionState = { ...state, chain, messages: chain.messages, damage: [] };
  return {
    path,
    plan: {
      allowed: true,
      says: [
        `makes a new session in ${dirname(file)}`,
        `with ${path.length - 1} entries of this one, byte for byte: ${chain.messages} messages${kept}`,
        "this session is not touched; its tasks, team and undo stack stay with it",
      ],
      ask: null,
      status: judge({ state: copied, process: null, now: Number.POSITIVE_INFINITY }).status,
    },
  };
}

/** The calls that are open from a line on: its own, or those of messages that a compaction kept. */
function askedBy({ message, compaction }: EntryFacts): string[] {
  return message?.calls ?? compaction?.kept.flatMap(({ calls }) => calls) ?? [];
}

async function copy(needs: ForkNeeds, original: Original, path: readonly EntryFacts[]): Promise<Forked> {
  const { root, state } = original;
  const { header } = state;
  if (header === null) throw new Error("not forked: it has no header");
  const directory = dirname(original.path);
  for (let draw = 0; draw < MOST_DRAWS; draw++) {
    const id = generateId();
    const createdMs = needs.now();
    if (!needs.isFree(root, id)) continue;
    const to = join(directory, `${localDate(createdMs)}_${id}.jsonl`);
    try {
      await publishNew(to, linesOf(original.path, path, { ...header, sessionId: id }, createdMs), {
        verify: (temporary) => verify(temporary, id, path, state),
      });
    } catch (error) {
      if (error instanceof AlreadyExists) continue;
      throw error;
    }
    const newest = needs.isNewest(directory, createdMs);
    return {
      key: sessionKey(root.source, root.index, id),
      id,
      path: to,
      resume: header.cwd === "" ? null : { argv: ["codebot", newest ? "-c" : "-r"], cwd: header.cwd },
      notes: newest ? [] : [`codebot lists the sessions of this directory: answer with ${id}`],
    };
  }
  throw new Error(`not forked: no free id in ${directory} after ${MOST_DRAWS} draws`);
}

/** The new header, then every line as it stands in the original. */
function* linesOf(from: string, path: readonly EntryFacts[], header: Header, createdMs: number): Generator<Uint8Array> {
  const { version, sessionId, name, cwd } = header;
  yield Buffer.from(headerLine({ version, sessionId, name, cwd }, createdMs));
  using file = openRegular(from);
  for (const facts of path) {
    if (facts.id === HEADER_ID) continue;
    const line = file.read(facts.at, facts.bytes);
    const entry = parseEntry(line.toString("utf8").trim());
    if (entry?.id !== facts.id || entry.timestamp !== facts.time) {
      throw new Error(`not forked: ${from} was changed while it was copied; try again`);
    }
    yield line;
    yield Buffer.from("\n");
  }
}

/** Reads the copy as codebot would and compares it with what it should be. */
function verify(temporary: string, id: string, path: readonly EntryFacts[], state: SessionState): void {
  const { header, entries, leaf, tail } = readSessionFile(temporary);
  const snapshot = buildSnapshot(entryChain(entries, leaf));
  const expected = contextLength(chainTo(state.entries, state.index, path.at(-1)?.id ?? HEADER_ID).context);
  const isWhole = header.sessionId === id && entries.size === path.length && leaf === (path.at(-1)?.id ?? HEADER_ID);
  if (!isWhole || tail !== null || snapshot.messages.length !== expected) {
    throw new Error("not forked: the copy does not read back as it should");
  }
}
