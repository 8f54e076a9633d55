import type { FileFold } from "../../files/fold.ts";
import { isoTime } from "../../files/go-json.ts";
import { activityOf, type BodyAt } from "./activity.ts";
import { type Status as Derived, isBlock, isTextType } from "./chain.ts";
import { type Conf, readConf } from "./conf.ts";
import { type Header, isKind, type Usage } from "./record.ts";
import { WaitingCalls } from "./waiting-calls.ts";
import { type Tail, type WalkedRecord, walkRecords } from "./walk.ts";

/** What one step cost, and by what copies of it are known. */
export interface StepState {
  /** 1-based ordinal in the file. */
  n: number;
  id: string;
  upto: number;
  time: string | null;
  request: string;
  model: string;
  provider: string;
  usage: Usage | null;
  /** Hash of every header up to and including this record: equal in two files means equal prefixes. */
  prefix: string;
}

/** A message, which is where a fork may end: what the session would be without it and all that follows. */
export interface CutPoint {
  n: number;
  /** Offset of its header. */
  at: number;
  /** Calls that wait for a result before it. */
  waiting: number;
  /** Status of the records before it. */
  status: Exclude<Derived, "stepping">;
  prefix: string;
}

/** Everything a list row, the usage and the fork points need of one file. Plain data; grows by O(new records). */
export interface StateOfFile {
  records: number;
  tail: Tail;
  /** Bytes behind the last whole record. */
  tailBytes: number;
  anomalies: { n: number; text: string }[];
  kinds: Record<string, number>;
  created: string | null;
  updated: string | null;
  /** Of the newest config record; null when there is none or it cannot be read. */
  conf: Conf | null;
  /** Why the newest config record cannot be read, null when it can. */
  confProblem: string | null;
  /** Ordinal of the first config record. */
  configAt: number | null;
  /** Ordinal of the first record with a header field of the wrong type: the tool refuses a file that holds it. */
  firstWrong: number | null;
  /** First text message, its first 8 KiB. */
  firstMessage: string | null;
  lastKind: string;
  /** n of the last record, as written. */
  lastN: number;
  /** Is every `n` the record's ordinal? Cuts count by ordinal, `upto` by n: when they differ nothing is forked. */
  numbered: boolean;
  /** Calls that no step has closed yet, in file order. */
  unclosed: { step: string; id: string; n: number }[];
  waiting: { id: string; n: number }[];
  steps: StepState[];
  /** Largest n of a message or result, null when there is none. */
  lastInput: number | null;
  models: string[];
  cuts: CutPoint[];
  /** Offsets of every 256th record: the end of a long file is found without reading its beginning. */
  marks: number[];
  /** The newest bodies worth a line in a list. */
  lastCall: BodyAt | null;
  lastSaid: BodyAt | null;
  /** What the telling one of them says, one line, and which record that is. */
  activity: string | null;
  activityFrom: number;
  /** Hash of the first record: equal in all copies of a family. */
  family: string;
  /** Hash of all headers so far: two numbers, so that going on from them costs nothing but the new header. */
  hash: [number, number];
  /** Time of the last record that has one that can be shown, as written. */
  lastTime: string;
  /** Offset of the last whole record. */
  lastAt: number;
}

export const RECORDS_PER_MARK = 256;
const TITLE_BYTES = 8 * 1024;
const MOST_ANOMALIES = 100;
const MOST_CONFIG_BYTES = 4 * 1024 * 1024;

export const statefileFold: FileFold<StateOfFile> = {
  name: "statefile",
  version: 5,
  initial: () => ({
    records: 0,
    tail: "clean",
    tailBytes: 0,
    anomalies: [],
    kinds: {},
    created: null,
    updated: null,
    conf: null,
    confProblem: null,
    configAt: null,
    firstWrong: null,
    firstMessage: null,
    lastKind: "",
    lastN: 0,
    numbered: true,
    unclosed: [],
    waiting: [],
    steps: [],
    lastInput: null,
    models: [],
    cuts: [],
    marks: [],
    lastCall: null,
    lastSaid: null,
    activity: null,
    activityFrom: 0,
    family: "",
    hash: [0xcbf29ce4, 0x84222325],
    lastTime: "",
    lastAt: 0,
  }),
  *advance(state, bytes, from) {
    const open = new Open(state);
    const end = yield* walkRecords(bytes, from, (record) => {
      take(state, open, record);
      return true;
    });
    open.putBack();
    state.updated = isoTime(state.lastTime);
    const told = tellingBody(state);
    if (told && told.n !== state.activityFrom) {
      state.activity = activityOf(bytes, told);
      state.activityFrom = told.n;
    }
    state.tail = end.tail;
    state.tailBytes = bytes.size - end.good;
    return end.good;
  },
  lastRecordAt: (state) => state.lastAt,
};

/**
 * What is looked up by id while records are taken in; plain data again when they are. An index costs as much as there is in
 * it, so none is made before a record asks for it: most appends ask for none.
 */
class Open {
  readonly #state: StateOfFile;
  /** By the step that would close them. */
  #unclosed: Map<string, StateOfFile["unclosed"]> | null = null;
  #waiting: WaitingCalls<{ id: string; n: number }> | null = null;
  #models: Set<string> | null = null;

  constructor(state: StateOfFile) {
    this.#state = state;
  }

  get waiting(): number {
    return this.#waiting === null ? this.#state.waiting.length : this.#waiting.size;
  }

  /** Keeps a call until its step comes. */
  hold(call: StateOfFile["unclosed"][number]): void {
    if (this.#unclosed === null) {
      this.#state.unclosed.push(call);
      return;
    }
    const others = this.#unclosed.get(call.step);
    if (others === undefined) this.#unclosed.set(call.step, [call]);
    else others.push(call);
  }

  /** The calls of this step wait from now on. */
  close(step: string): void {
    this.#unclosed ??= Map.groupBy(this.#state.unclosed, (call) => call.step);
    for (const { id, n } of this.#unclosed.get(step) ?? []) {
      if (this.#waiting === null) this.#state.waiting.push({ id, n });
      else this.#waiting.add({ id, n });
    }
    this.#unclosed.delete(step);
  }

  answer(id: string): void {
    this.#waiting ??= new WaitingCalls(this.#state.waiting);
    this.#waiting.answer(id);
  }

  note(model: string): void {
    this.#models ??= new Set(this.#state.models);
    if (this.#models.has(model)) return;
    this.#models.add(model);
    this.#state.models.push(model);
  }

  putBack(): void {
    if (this.#unclosed !== null) this.#state.unclosed = [...this.#unclosed.values()].flat().sort((a, b) => a.n - b.n);
    if (this.#waiting !== null) this.#state.waiting = this.#waiting.list();
  }
}

/** The call that waits, else whatever was called or said last. */
function tellingBody({ lastCall, lastSaid, waiting }: StateOfFile): BodyAt | null {
  if (lastCall === null || lastSaid === null) return lastCall ?? lastSaid;
  return waiting.length > 0 || lastCall.n > lastSaid.n ? lastCall : lastSaid;
}

function take(state: StateOfFile, open: Open, record: WalkedRecord): void {
  const { header } = record;
  const n = state.records + 1;
  if (n === 1) state.created = isoTime(header.time);
  // A message is where a cut may end: note what stood before it, before it counts.
  if (header.kind === "message") {
    state.cuts.push({
      n,
      at: record.start,
      waiting: open.waiting,
      status: statusOf(state, open.waiting),
      prefix: hashText(state.hash),
    });
  }
  if (state.records % RECORDS_PER_MARK === 0) state.marks.push(record.start);
  noteAnomalies(state, record, n);
  hashOn(state.hash, record.line);
  if (n === 1) state.family = hashText(state.hash);
  state.records = n;
  state.lastAt = record.start;
  countKind(state.kinds, header.kind);
  state.lastKind = header.kind;
  state.lastN = header.n;
  if (canBeShown(header.time)) state.lastTime = header.time;
  const at = { n, kind: header.kind, type: header.type ?? null, at: record.bodyAt, len: header.len };
  switch (header.kind) {
    case "config":
      takeConfig(state, record, n);
      break;
    case "message":
      if (state.firstMessage === null && isTextType(header.type)) {
        state.firstMessage = record.body(TITLE_BYTES).toString("utf8");
      }
      state.lastInput = Math.max(state.lastInput ?? header.n, header.n);
      state.lastSaid = at;
      break;
    case "result":
      open.answer(header.for ?? "");
      state.lastInput = Math.max(state.lastInput ?? header.n, header.n);
      break;
    case "call":
      open.hold({ step: header.step ?? "", id: header.id, n });
      state.lastCall = at;
      break;
    case "text":
    case "error":
      state.lastSaid = at;
      break;
    case "step":
      takeStep(state, open, header, n);
      break;
  }
}

/** A kind may have the name of something every object has. */
function countKind(kinds: Record<string, number>, kind: string): void {
  if (Object.hasOwn(kinds, kind)) kinds[kind] = (kinds[kind] ?? 0) + 1;
  else Object.defineProperty(kinds, kind, { value: 1, writable: true, enumerable: true, configurable: true });
}

/** Of what was read as a time, one in UTC, as the tool writes it, can be shown unless it is Go's unset time. */
function canBeShown(time: string): boolean {
  return time.endsWith("Z") ? !time.startsWith("0001-") : isoTime(time) !== null;
}

/** The newest config record counts, also when it cannot be read: then nothing is known, as for the tool (statefile.md §7). */
function takeConfig(state: StateOfFile, record: WalkedRecord, n: number): void {
  state.configAt ??= n;
  const read =
    record.header.len > MOST_CONFIG_BYTES
      ? { conf: null, problem: "is too long to be one" }
      : readConf(record.body(MOST_CONFIG_BYTES));
  state.conf = read.conf;
  state.confProblem = read.problem === null ? null : `record ${n}: its config ${read.problem}`;
}

function takeStep(state: StateOfFile, open: Open, header: Header, n: number): void {
  open.close(header.id);
  const model = header.model ?? "";
  if (model !== "") open.note(model);
  state.steps.push({
    n,
    id: header.id,
    upto: header.upto ?? 0,
    time: isoTime(header.time),
    request: header.request ?? "",
    model,
    provider: header.provider ?? "",
    usage: header.usage ?? null,
    prefix: hashText(state.hash),
  });
}

function noteAnomalies(state: StateOfFile, { header, wrong }: WalkedRecord, n: number): void {
  const note = (text: string): void => {
    if (state.anomalies.length < MOST_ANOMALIES) state.anomalies.push({ n, text });
  };
  if (wrong.length > 0) state.firstWrong ??= n;
  for (const field of wrong) note(`record ${n}: field ${field} has the wrong type`);
  if (!isKind(header.kind)) note(`record ${n}: unknown kind '${header.kind.slice(0, 40)}'`);
  if (n === 1 && header.kind !== "start") note("record 1 is not start");
  if (n === 2 && header.kind !== "config") note("record 2 is not config");
  if (header.n !== n) {
    if (state.numbered) note(`record ${n}: its n is ${header.n}`);
    state.numbered = false;
  }
}

/** Status at the tip (statefile.md §9), from the running state. */
export function statusOf(state: StateOfFile, waiting = state.waiting.length): Exclude<Derived, "stepping"> {
  if (state.lastKind === "error") return "failed";
  if (waiting > 0) return "interrupted";
  const step = state.steps.at(-1);
  if (state.lastInput !== null && (!step || state.lastInput > step.upto)) return "open";
  return "closed";
}

/** How the tip looks (ours): says which bound a guess of work in progress ages by. */
export type Shape = "empty" | "error" | "calls-waiting" | "blocks-streaming" | "needs-step" | "idle";

export function shapeOf(state: StateOfFile): Shape {
  if (state.records === 0) return "empty";
  const status = statusOf(state);
  if (status === "failed") return "error";
  if (status === "interrupted") return "calls-waiting";
  if (status === "open") return isBlock(state.lastKind) ? "blocks-streaming" : "needs-step";
  return "idle";
}

/** What the file as a whole holds, with what only its whole shows. */
export function anomaliesOf(state: StateOfFile): { n: number; text: string }[] {
  const late = state.records === 1 ? [{ n: 2, text: "record 2 is not config" }] : [];
  return [...state.anomalies, ...late];
}

/** Why the tool refuses to load the file (statefile.md §6), its first fault; null when it does not. */
export function refusalOf(state: StateOfFile): string | null {
  if (state.firstWrong !== null) return `record ${state.firstWrong} has a field of the wrong type`;
  const damaged = state.tail === "bad-header" || state.tail === "bad-len";
  return damaged ? `it is damaged after record ${state.records} (${state.tail})` : null;
}

/** Two FNV-1a hashes side by side over the header lines; bodies are told apart by ids, times and lengths in them. */
function hashOn(hash: [number, number], line: Buffer): void {
  let [a, b] = hash;
  for (let at = 0; at < line.length; at += 1) {
    const byte = line[at] ?? 0;
    a = Math.imul(a ^ byte, 0x01000193);
    b = Math.imul(b ^ byte, 0x01000197);
  }
  hash[0] = a >>> 0;
  hash[1] = b >>> 0;
}

/** The hash so far as text: equal in two files means equal headers up to there. */
export function hashText([a, b]: readonly [number, number]): string {
  return `${a.toString(16).padStart(8, "0")}:${b.toString(16).padStart(8, "0")}`;
}
