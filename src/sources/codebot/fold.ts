import type { FileFold } from "../../files/fold.ts";
import { walkLines } from "../../files/lines.ts";
import { absolutes, type Edit, noteEdits } from "../../session/edited-files.ts";
import type { Damage } from "../../session/snapshot.ts";
import { type ChainState, chainTo, type EntryIndex, emptyChain, leavesOf, pushEntry } from "./chain-state.ts";
import { ENTRY_KINDS, type Entry, parseEntry } from "./entry.ts";
import { type EntryFacts, factsOf, modelName, type Place } from "./facts.ts";
import { emptyFlat, type FlatState, flatFacts, pushFlat } from "./flat-log.ts";
import { flatModel } from "./flat-message.ts";
import { compareInstants, instantOf } from "./go-time.ts";
import { HEADER_ID } from "./ids.ts";
import { isJson, tailOf } from "./jsonl.ts";
import { type Header, readHeader, SESSION_VERSION } from "./payloads.ts";

/** How the lines after the header are read: as a tree (1 to 3), as version 5's log, or not at all. */
type Shape = "tree" | "flat" | "unknown";

/** Everything rows, documents and fork points need of one session file. Plain data; grows by O(new lines). */
export interface SessionState {
  lines: number;
  header: Header | null;
  /** Why it is no session, null while it may be one. */
  refused: string | null;
  shape: Shape;
  /** Every entry with an id, the header first (version 5: every line, `@<line>` for an id). */
  entries: EntryFacts[];
  index: EntryIndex;
  /** Ids that are somebody's parent. */
  parents: Record<string, true>;
  leaves: number;
  chain: ChainState;
  /** The chain has to be walked anew: a branch, or a duplicate id. */
  stale: boolean;
  flat: FlatState;
  /** What codebot's list says (codebot.md §3): in file order, branches ignored. */
  name: string;
  messages: number;
  byRole: Record<string, number>;
  firstMessage: string;
  updated: string;
  /** Files that calls changed, on any branch. */
  edits: Edit[];
  models: string[];
  lastModel: string | null;
  /** Kinds that are not of this version, and how often they occur. */
  unknownKinds: Record<string, number>;
  damage: Damage[];
  /** Damage beyond what is listed. */
  moreDamage: number;
  /** The first line for which codebot refuses to open the session, listed or not. */
  fatal: Damage | null;
  /** Assistant messages that no llm_call was joined to yet, newest last: their positions in `entries`. */
  unpaired: number[];
  /**
   * What stands behind the last LF: read anew each time, never part of the rest. A record is kept as text, because its
   * data may be nested deeper than a clone survives.
   */
  tail: { at: number; bytes: number; valid: boolean; record: string | null } | null;
}

const MOST_DAMAGE = 100;
const MOST_UNPAIRED = 64;
const NEWER_FLAT = 5;
const KNOWN_KINDS = new Set<string>(ENTRY_KINDS);

/** Reads a session file of any version, tolerantly: a bad line costs that line (codebot.md §14). */
export const codebotFold: FileFold<SessionState> = {
  name: "codebot",
  version: 3,
  initial: initialState,
  *advance(state, bytes, from) {
    state.tail = null;
    const end = yield* walkLines(bytes, from, {
      line: (buffer, at) => {
        state.lines += 1;
        const text = buffer.toString("utf8").trim();
        if (text !== "") takeText(state, text, { line: state.lines, at, bytes: buffer.length });
      },
      oversize: (_at, length) => {
        state.lines += 1;
        addDamage(state, { kind: "oversize_line", bytes: length, line: state.lines });
      },
      tail: (buffer, at) => {
        const tail = tailOf(buffer, at);
        if (tail === null) return;
        const { bytes, valid } = tail;
        state.tail = { at, bytes, valid, record: valid && parseEntry(tail.text) !== null ? tail.text : null };
      },
    });
    freshen(state);
    return end;
  },
};

function initialState(): SessionState {
  return {
    lines: 0,
    header: null,
    refused: null,
    shape: "unknown",
    entries: [],
    index: {},
    parents: {},
    leaves: 0,
    chain: emptyChain(),
    stale: false,
    flat: emptyFlat(),
    name: "",
    messages: 0,
    byRole: {},
    firstMessage: "",
    updated: "",
    edits: [],
    models: [],
    lastModel: null,
    unknownKinds: {},
    damage: [],
    moreDamage: 0,
    fatal: null,
    unpaired: [],
    tail: null,
  };
}

/**
 * The state with the unterminated last line taken in where it is a record, else flagged (codebot.md §14). The given
 * state stays as it is, because the next read begins at that line again.
 */
export function settled(state: SessionState): SessionState {
  const { tail } = state;
  if (tail === null || state.refused !== null) return state;
  if (tail.record === null) {
    if (state.header === null) {
      return { ...state, refused: tail.valid ? "first line is not a header" : "first line is not valid JSON" };
    }
    const kind = tail.valid ? "malformed_line" : "torn_tail";
    const damage = { kind, bytes: tail.bytes, line: state.lines + 1 };
    return { ...state, damage: [...state.damage, damage], fatal: state.fatal ?? fatalOf(damage) };
  }
  const whole = structuredClone(state);
  whole.lines += 1;
  takeText(whole, tail.record, { line: whole.lines, at: tail.at, bytes: tail.bytes });
  freshen(whole);
  return whole;
}

function takeText(state: SessionState, text: string, place: Place): void {
  if (state.refused !== null) return;
  const entry = parseEntry(text);
  if (entry !== null) takeEntry(state, entry, place);
  else if (state.header !== null) addDamage(state, { kind: "malformed_line", bytes: place.bytes, line: place.line });
  else state.refused = isJson(text) ? "first line is not a header" : "first line is not valid JSON";
}

function takeEntry(state: SessionState, entry: Entry, place: Place): void {
  if (state.header === null) takeHeader(state, entry, place);
  else if (state.shape !== "unknown") takeRecord(state, entry, place);
}

function takeRecord(state: SessionState, entry: Entry, place: Place): void {
  if (state.shape === "tree" && entry.id === "") {
    addDamage(state, { kind: "empty_id", bytes: place.bytes, line: place.line });
    return;
  }
  const facts = state.shape === "flat" ? flatFacts(entry, place) : factsOf(entry, place);
  takeListed(state, facts);
  if (facts.undecodable) addDamage(state, { kind: "undecodable_message", bytes: place.bytes, line: place.line });
  if (state.shape === "flat") takeFlat(state, entry, facts);
  else takeTree(state, entry, facts);
}

function takeTree(state: SessionState, entry: Entry, facts: EntryFacts): void {
  if (!KNOWN_KINDS.has(entry.kind)) tally(state.unknownKinds, entry.kind);
  noteModels(state, facts);
  payCall(state, facts);
  addToTree(state, facts);
}

function takeHeader(state: SessionState, entry: Entry, place: Place): void {
  const header = entry.kind === "header" ? readHeader(entry.data) : null;
  if (header === null) {
    state.refused = "first line is not a header";
    return;
  }
  state.header = header;
  state.name = header.name;
  state.updated = instantOf(entry.timestamp) === null ? (header.created ?? "") : entry.timestamp;
  const { version } = header;
  state.shape = version === NEWER_FLAT ? "flat" : version >= 1 && version <= SESSION_VERSION ? "tree" : "unknown";
  if (version > SESSION_VERSION) addDamage(state, { kind: "newer_format", bytes: null, line: null });
  if (version < SESSION_VERSION) addDamage(state, { kind: "older_format", bytes: null, line: null });
  const id = state.shape === "flat" ? `@${place.line}` : HEADER_ID;
  addToTree(state, { id, parent: "", kind: "header", time: entry.timestamp, ...place });
}

/** What codebot's list shows, from every entry of the file in its order (codebot.md §3). */
function takeListed(state: SessionState, facts: EntryFacts): void {
  const time = instantOf(facts.time);
  const before = instantOf(state.updated);
  if (time !== null && (before === null || compareInstants(time, before) > 0)) state.updated = facts.time;
  if (facts.name !== undefined) state.name = facts.name;
  if (facts.kind !== "message") return;
  state.messages += 1;
  const { message } = facts;
  if (message === undefined) return;
  tally(state.byRole, message.role);
  if (state.firstMessage === "") state.firstMessage = message.prompt;
  message.prompt = "";
  if (message.edits === undefined) return;
  noteEdits(state.edits, absolutes(message.edits, state.header?.cwd ?? null), time?.ms ?? null);
  delete message.edits;
}

function takeFlat(state: SessionState, entry: Entry, facts: EntryFacts): void {
  if (!pushFlat(state.flat, entry, facts, state.entries.length)) {
    tally(state.unknownKinds, entry.kind);
    addDamage(state, { kind: "unknown_kind", bytes: facts.bytes, line: facts.line });
  }
  noteModels(state, facts);
  const answered = entry.kind === "message" ? flatModel(entry.data) : null;
  if (answered !== null) noteModel(state, modelName(answered.provider, answered.model));
  state.entries.push(facts);
}

function addToTree(state: SessionState, facts: EntryFacts): void {
  const key = `$${facts.id}`;
  const duplicate = state.index[key] !== undefined;
  const parent = `$${facts.parent}`;
  state.index[key] = state.entries.push(facts) - 1;
  if (duplicate) addDamage(state, { kind: "duplicate_id", bytes: facts.bytes, line: facts.line });
  if (!state.parents[key]) state.leaves += 1;
  if (facts.parent !== "" && facts.id !== HEADER_ID && !state.parents[parent]) {
    state.parents[parent] = true;
    if (state.index[parent] !== undefined) state.leaves -= 1;
  }
  // A branch, a duplicate, or the parent of an earlier line: only a new walk tells where the chain runs now.
  if (duplicate || state.parents[key] || (facts.parent !== state.chain.leaf && state.entries.length > 1)) {
    state.stale = true;
  }
  if (!state.stale) pushEntry(state.chain, facts);
}

/** Walks the chain anew when it has to be: once a read, however many branches came. */
function freshen(state: SessionState): void {
  if (!state.stale) return;
  state.stale = false;
  state.chain = chainTo(state.entries, state.index, state.entries.at(-1)?.id ?? HEADER_ID);
  state.leaves = leavesOf(state.entries, state.index).length;
  // Parents of entries that a duplicate replaced do not count.
  state.parents = {};
  for (const [at, { id, parent }] of state.entries.entries()) {
    if (parent !== "" && id !== HEADER_ID && state.index[`$${id}`] === at) state.parents[`$${parent}`] = true;
  }
}

const BROKEN_CHAINS = { cycle: "parent_cycle", "no-header": "no_header", "missing-parent": "missing_parent" };

/** All that is wrong with the file as it is now, in file order; a broken chain last, by the line it is reached from. */
export function damageOf(state: SessionState): Damage[] {
  const { broken, leaf } = state.chain;
  const damage = [...state.damage];
  if (broken !== null) {
    const line = state.entries[state.index[`$${leaf}`] ?? -1]?.line ?? null;
    damage.push({ kind: BROKEN_CHAINS[broken.kind], bytes: null, line });
  }
  if (state.moreDamage > 0) damage.push({ kind: `and_${state.moreDamage}_more`, bytes: null, line: null });
  return damage;
}

function noteModels(state: SessionState, facts: EntryFacts): void {
  const { model, call, message } = facts;
  if (model !== undefined) noteModel(state, modelName(model.provider, model.model));
  if (call !== undefined) {
    noteModel(state, modelName(call.provider, call.model));
    state.lastModel = modelName(call.provider, call.model);
  }
  if (message?.usage) noteModel(state, modelName(message.usage.provider, message.usage.model));
}

function noteModel(state: SessionState, name: string): void {
  if (name !== "" && !state.models.includes(name)) state.models.push(name);
}

/** Joins a call to the nearest assistant message before it with the same numbers, which knows its cost (codebot.md §4.1). */
function payCall(state: SessionState, facts: EntryFacts): void {
  if (facts.message?.usage) {
    state.unpaired.push(state.entries.length);
    if (state.unpaired.length > MOST_UNPAIRED) state.unpaired.shift();
  }
  const { call } = facts;
  if (call === undefined) return;
  const found = state.unpaired.findLastIndex((at) => {
    const usage = state.entries[at]?.message?.usage;
    return usage?.input === call.inputTokens && usage.output === call.outputTokens;
  });
  if (found < 0) return;
  const [at = -1] = state.unpaired.splice(found, 1);
  call.answer = at;
  call.cost = state.entries[at]?.message?.usage?.cost ?? null;
}

/** Counts a word from a file, which may be one that every object has. */
function tally(counts: Record<string, number>, word: string): void {
  if (word !== "__proto__") counts[word] = (Object.hasOwn(counts, word) ? (counts[word] ?? 0) : 0) + 1;
}

/** Lines for which codebot refuses to open a session (codebot.md §14). */
const FATAL = new Set(["malformed_line", "oversize_line", "empty_id"]);

function fatalOf(damage: Damage): Damage | null {
  return FATAL.has(damage.kind) ? damage : null;
}

function addDamage(state: SessionState, damage: Damage): void {
  state.fatal ??= fatalOf(damage);
  if (state.damage.length < MOST_DAMAGE) state.damage.push(damage);
  else state.moreDamage += 1;
}
