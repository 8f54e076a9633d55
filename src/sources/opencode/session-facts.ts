import { callSummary } from "../../session/call-summary.ts";
import { type Edit, filesEditedBy, lastEdited, noteEdits } from "../../session/edited-files.ts";
import { cleanLine, cutCodePoints, lineOrNull } from "../../session/untrusted.ts";
import { NEW_TAIL, type OpenCall, type Tail } from "../by-process/tail.ts";
import { field, fieldsOf, listField, objectField, textField } from "../jsonl/record.ts";
import { isTyped, promptText, says } from "./part-fields.ts";
import type { MessageRow, Part, SessionRow, SessionStore, StoredTokens } from "./rows.ts";
import { givenTitle } from "./titles.ts";
import type { Todo } from "./todos.ts";

interface Counts {
  human: number;
  assistant: number;
}

/** What a list needs of one session, read once and kept until the session changes. */
export interface SessionFacts {
  session: SessionRow;
  /** Only the session's own row and both ends were read: its numbers are the row's. */
  brief: boolean;
  /** Prompts and replies as the store counts them, where not every one was read. */
  stored: number;
  messages: MessageRow[];
  /** Place of the first reverted message; the number of messages when nothing was reverted. */
  visible: number;
  counts: Counts;
  reverted: Counts;
  /** null: not counted, because that would read every part. */
  toolCalls: number | null;
  compactions: number;
  firstPrompt: string | null;
  lastPrompt: string | null;
  tail: Tail;
  todos: Todo[];
  /** Files that were edited within the last hour of it, absolute; of old sessions of a big store they are not read. */
  edits: string[];
  bad: number;
}

const MOST_PROMPT = 2000;
const MOST_INPUT = 4000;
/** How many messages at each end of a session tell its title and how it ends. */
const MOST_ENDS = 8;
/** How many of the last replies are searched for edits. */
const MOST_SEARCHED = 40;
const HOUR = 3_600_000;
/** OpenCode's words for a call that the person turned down, which ends the turn; told what to do instead, the agent goes on. */
const REFUSED = /^The user (?:rejected permission|dismissed)\b(?!.*following feedback)/isu;

/** Reads a session's messages, and the few parts that decide what they are; calls and edits are in all the others. */
export function readFacts(
  store: SessionStore,
  session: SessionRow,
  wanted: { calls: boolean; edits: boolean },
): SessionFacts {
  const { rows: messages, bad } = store.messages(session);
  const visible = visibleOf(session, messages);
  const counts: Counts = { human: 0, assistant: 0 };
  const reverted: Counts = { human: 0, assistant: 0 };
  const prompts = new Prompts();
  let compactions = 0;
  for (const [at, message] of messages.entries()) {
    const into = at < visible ? counts : reverted;
    if (message.role === "compaction" || (message.role === "assistant" && message.summary)) {
      if (at < visible) compactions += 1;
    } else if (message.role === "user") {
      if (prompts.add(store.parts(session, message.id, MOST_PROMPT), at < visible)) into.human += 1;
    } else if (message.role === "assistant" && replies(store, session, message)) into.assistant += 1;
  }
  const shown = messages.slice(0, visible);
  const replying = shown.filter((one) => one.role === "assistant" && !one.summary).map((one) => one.id);
  return {
    session,
    brief: false,
    stored: messages.length,
    messages,
    visible,
    counts,
    reverted,
    toolCalls: wanted.calls ? store.countCalls(session, replying) : null,
    compactions,
    firstPrompt: prompts.first,
    lastPrompt: prompts.last,
    tail: tailOf(store, session, shown),
    todos: store.todos(session),
    edits: wanted.edits ? editsOf(store, session, messages) : [],
    bad,
  };
}

/** Of a session too old or too big for a list: what its own row says, and how it begins and ends. */
export function readBrief(store: SessionStore, session: SessionRow): SessionFacts {
  const last = store.messages(session, { edge: "last", most: MOST_ENDS }).rows;
  const { revert } = session;
  // What was reverted reaches further back than this looks.
  if (revert !== null && !last.slice(1).some((message) => message.id === revert.message)) {
    return readFacts(store, session, { calls: false, edits: false });
  }
  const shown = last.slice(0, visibleOf(session, last));
  const prompts = new Prompts();
  const first =
    givenTitle(session.title) === null ? store.messages(session, { edge: "first", most: MOST_ENDS }).rows : [];
  for (const { role, id } of first) if (role === "user") prompts.add(store.parts(session, id, MOST_PROMPT), true);
  return {
    session,
    brief: true,
    stored: store.count(session),
    messages: [],
    visible: 0,
    counts: { human: 0, assistant: 0 },
    reverted: { human: 0, assistant: 0 },
    toolCalls: null,
    compactions: 0,
    firstPrompt: prompts.first,
    lastPrompt: null,
    tail: tailOf(store, session, shown),
    todos: store.todos(session),
    edits: [],
    bad: 0,
  };
}

/** The first and the last thing the person wrote; a picture alone only where there is no text. */
class Prompts {
  #first: string | null = null;
  #firstSaid = false;
  #last: string | null = null;

  /** Takes in a prompt's parts; false when nothing of them was typed. */
  add(parts: readonly Part[], visible: boolean): boolean {
    const typed = parts.filter(isTyped);
    if (typed.length === 0) return false;
    const { text, said } = promptText(typed);
    if (this.#first === null || (said && !this.#firstSaid)) [this.#first, this.#firstSaid] = [text, said];
    if (visible) this.#last = text;
    return true;
  }

  get first(): string | null {
    return lineOrNull(this.#first);
  }

  get last(): string | null {
    return lineOrNull(this.#last);
  }
}

/** Rows from the reverted message on stay until the next prompt: they are hidden (agents.md §4.3). */
function visibleOf(session: SessionRow, messages: readonly MessageRow[]): number {
  const { revert } = session;
  if (revert === null) return messages.length;
  const at = messages.findIndex((message) => message.id === revert.message);
  // Only the later parts of that message were taken back.
  if (at >= 0) return revert.part === null ? at : at + 1;
  const after = messages.findIndex((message) => message.id > revert.message);
  return after < 0 ? messages.length : after;
}

export function hasTokens(tokens: StoredTokens | null): tokens is StoredTokens {
  return tokens !== null && tokens.input + tokens.output + tokens.reasoning + tokens.cacheRead + tokens.cacheWrite > 0;
}

function replies(store: SessionStore, session: SessionRow, message: MessageRow): boolean {
  if (message.tokens !== null && message.tokens.output > 0) return true;
  return store.parts(session, message.id, 200).some(says);
}

/** How the visible part ends (agents.md §4.4). */
function tailOf(store: SessionStore, session: SessionRow, messages: readonly MessageRow[]): Tail {
  const last = messages.findLast((message) => message.role === "user" || message.role === "assistant");
  const time = last === undefined ? null : Math.max(last.createdAt, last.completedAt ?? 0);
  const end = (state: Tail["state"], evidence: string, text: string | null = null): Tail => {
    return { state, evidence, text, time, calls: [] };
  };
  const recorded = idleTail(session, messages);
  if (recorded !== null) return recorded;
  if (last === undefined) return NEW_TAIL;
  if (last.role === "user") return end("open", "the last prompt has no reply");
  if (last.error !== null) {
    const { name, message } = last.error;
    if (isAbort(name)) return end("interrupted", "the last reply was aborted");
    return end("error", `the last reply ended with ${cleanLine(name).slice(0, 80)}`, message ?? name);
  }
  const parts = store.parts(session, last.id, 4000);
  const calls = openCalls(parts);
  if (calls.length > 0)
    return { ...end("open", "calls have no results (a question for permission looks the same)"), calls };
  if (last.completedAt === null) return end("open", "the last reply is not finished");
  if (awaitsMore(last, parts)) return end("open", "the last reply ended in calls, and none came after it");
  return end("over", "the last reply is finished");
}

/** A reply that ended to make calls is followed by another (agents.md §0), unless the person refused one of them. */
function awaitsMore({ finish }: MessageRow, parts: readonly Part[]): boolean {
  if (finish !== "tool-calls") return false;
  return !parts.some((part) => {
    const state = objectField(part.fields, "state");
    return (
      part.type === "tool" && textField(state, "status") === "error" && REFUSED.test(textField(state, "error") ?? "")
    );
  });
}

/** Calls of the last replies, reverted ones too: a revert may leave files as they are. */
function editsOf(store: SessionStore, session: SessionRow, messages: readonly MessageRow[]): string[] {
  const replies = messages.filter((message) => message.role === "assistant" && !message.summary);
  const end = replies.reduce((latest, message) => Math.max(latest, endOf(message)), 0);
  const edits: Edit[] = [];
  for (const message of replies.slice(-MOST_SEARCHED)) {
    if (endOf(message) < end - HOUR) continue;
    for (const { type, fields } of store.parts(session, message.id, MOST_INPUT)) {
      const state = objectField(fields, "state");
      if (type !== "tool" || textField(state, "status") !== "completed") continue;
      const paths = filesEditedBy(textField(fields, "tool") ?? "", field(state, "input"), session.cwd);
      noteEdits(edits, paths, endOf(message));
    }
  }
  return lastEdited(edits, end);
}

function endOf(message: MessageRow): number {
  return message.completedAt ?? message.createdAt;
}

export function isAbort(name: string): boolean {
  return name === "MessageAbortedError" || name === "aborted";
}

/** Version 2 writes how a session came to rest; a newer prompt makes that history. */
function idleTail(session: SessionRow, messages: readonly MessageRow[]): Tail | null {
  const { idleAt, outcome, suspendedAt } = session;
  // Of a long turn the prompt may lie before what was read.
  const asked = (messages.findLast((message) => message.role === "user") ?? messages[0])?.createdAt ?? 0;
  const end = (state: Tail["state"], evidence: string, time: number, text: string | null = null): Tail => {
    return { state, evidence, text, time, calls: [], recorded: true };
  };
  if (suspendedAt !== null && suspendedAt >= Math.max(asked, idleAt ?? 0)) {
    return end("interrupted", "OpenCode recorded that it was suspended", suspendedAt);
  }
  if (idleAt === null || outcome === null || idleAt < asked) return null;
  const evidence = `OpenCode recorded that it ${cleanLine(outcome).slice(0, 40)}`;
  if (outcome === "failed") {
    const error = messages.findLast((message) => message.error !== null)?.error ?? null;
    return end("error", evidence, idleAt, session.idleError ?? error?.message ?? error?.name ?? null);
  }
  if (outcome === "interrupted") return end("interrupted", evidence, idleAt);
  return outcome === "succeeded" ? end("over", evidence, idleAt) : null;
}

function openCalls(parts: readonly Part[]): OpenCall[] {
  return parts.flatMap((part) => {
    const state = objectField(part.fields, "state");
    const status = textField(state, "status");
    if (part.type !== "tool" || (status !== "pending" && status !== "running")) return [];
    const name = textField(part.fields, "tool") ?? "?";
    const input = field(state, "input");
    const summary = cutCodePoints(callSummary(name, input), 200);
    const question = name === "question" ? questionOf(input, summary) : null;
    return [{ id: textField(part.fields, "callID") ?? part.id, name, summary, question }];
  });
}

function questionOf(input: unknown, otherwise: string): string {
  const fields = fieldsOf(input);
  const first = fieldsOf(listField(fields, "questions")[0]);
  const asked = textField(first, "question") ?? textField(fields, "question");
  return asked === null ? otherwise : cutCodePoints(cleanLine(asked), 200);
}
