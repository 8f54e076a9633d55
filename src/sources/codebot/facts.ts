import { callSummary } from "../../session/call-summary.ts";
import { pathsEditedBy } from "../../session/edited-files.ts";
import { cutCodePoints } from "../../session/untrusted.ts";
import type { Entry } from "./entry.ts";
import { promptText } from "./first-message.ts";
import { floatOf, isObject, textOf } from "./json.ts";
import {
  answeredCall,
  argumentsOf,
  blocksOf,
  callsOf,
  displayText,
  isInjected,
  type Message,
  partsOf,
  readMessage,
} from "./message.ts";
import {
  type GoalStateEntry,
  type LLMCallEntry,
  type ModelChange,
  type PlanStateEntry,
  readCompaction,
  readGoalState,
  readLLMCall,
  readModelChange,
  readPlanState,
  readReasoningEffort,
  readSessionName,
} from "./payloads.ts";

/** Longest text of a message that is kept for rows and lists, code points. The rest is read when it is shown. */
const MOST_SAID = 200;
/** Longest first message that is kept, code points. */
const MOST_PROMPT = 4096;

/** What one answer of a model cost, in codebot's own meaning: `input` contains the cache reads. */
export interface TokenFacts {
  provider: string;
  model: string;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** US dollars, null when not recorded. */
  cost: number | null;
}

/** What lists, counts and fork points need of a message. */
export interface MessageFacts {
  role: string;
  injected: boolean;
  /** Ids of the calls it asks for. */
  calls: string[];
  /** The call it answers, `""` for none. */
  answers: string;
  stop: string;
  usage: TokenFacts | null;
  /** Entries it becomes in a transcript. */
  parts: number;
  /** The beginning of what was said or called, untrusted. */
  said: string;
  /** What a person typed, until the session has its first message. */
  prompt: string;
  /** Files its calls change, until the session has noted them. */
  edits?: string[];
}

/** An `llm_call`, with what the message says that it is about. */
interface CallFacts extends LLMCallEntry {
  cost: number | null;
  /** Position of that message in `entries`, null when none was found. */
  answer: number | null;
}

/** One line of a session file, as far as it is kept. Plain data. */
export interface EntryFacts {
  id: string;
  parent: string;
  kind: string;
  time: string;
  /** 1-based. */
  line: number;
  /** Offset of the line and its length without the LF. */
  at: number;
  bytes: number;
  message?: MessageFacts;
  /** A `message` whose payload cannot be decoded. */
  undecodable?: true;
  compaction?: { summary: boolean; kept: MessageFacts[] };
  model?: ModelChange;
  effort?: string;
  name?: string;
  plan?: PlanStateEntry;
  goal?: GoalStateEntry;
  call?: CallFacts;
}

export interface Place {
  line: number;
  at: number;
  bytes: number;
}

export function factsOf(entry: Entry, place: Place): EntryFacts {
  const { id, parentId: parent, kind, timestamp: time } = entry;
  const facts: EntryFacts = { id, parent, kind, time, ...place };
  switch (kind) {
    case "message": {
      const message = readMessage(entry.data);
      if (message === null) facts.undecodable = true;
      else facts.message = messageFacts(message);
      break;
    }
    case "compaction": {
      const compaction = readCompaction(entry.data);
      if (compaction === null) break;
      facts.compaction = { summary: compaction.summary !== "", kept: compaction.messages.map(keptFacts) };
      break;
    }
    default:
      takeState(facts, entry);
  }
  return facts;
}

function takeState(facts: EntryFacts, entry: Entry): void {
  switch (entry.kind) {
    case "model_change":
      set(facts, "model", readModelChange(entry.data));
      break;
    case "reasoning_effort_change":
      set(facts, "effort", readReasoningEffort(entry.data)?.level ?? null);
      break;
    case "session_info":
      set(facts, "name", readSessionName(entry.data));
      break;
    case "plan_state":
      set(facts, "plan", readPlanState(entry.data));
      break;
    case "goal_state":
      set(facts, "goal", readGoalState(entry.data));
      break;
    case "llm_call": {
      const call = readLLMCall(entry.data);
      set(facts, "call", call === null ? null : { ...call, cost: null, answer: null });
    }
  }
}

function set<K extends keyof EntryFacts>(facts: EntryFacts, key: K, value: EntryFacts[K] | null): void {
  if (value !== null && value !== undefined) facts[key] = value;
}

export function messageFacts(message: Message): MessageFacts {
  const calls = callsOf(message);
  const edits = calls.flatMap((call) => pathsEditedBy(call.name, call.args));
  return {
    role: message.role,
    injected: isInjected(message),
    calls: calls.map((call) => call.id),
    answers: message.role === "tool" ? answeredCall(message) : "",
    stop: typeof message.stop_reason === "string" ? message.stop_reason : "",
    usage: message.role === "assistant" ? usageFacts(message.usage) : null,
    parts: partsOf(message),
    said: cutCodePoints(saidBy(message), MOST_SAID),
    prompt: cutCodePoints(promptText(message), MOST_PROMPT),
    ...(edits.length === 0 ? {} : { edits }),
  };
}

/** A kept copy was counted where it was first written: its text and usage are not kept again. */
export function keptFacts(message: Message): MessageFacts {
  const { edits: _edits, ...facts } = messageFacts(message);
  return { ...facts, usage: null, prompt: "" };
}

function saidBy(message: Message): string {
  const call = callsOf(message).at(-1);
  if (call !== undefined) return callSummary(call.name, argumentsOf(call));
  const text = displayText(message);
  if (text !== "") return text;
  return blocksOf(message).find((block) => block.type === "thinking")?.thinking ?? "";
}

export function usageFacts(usage: unknown): TokenFacts | null {
  if (!isObject(usage)) return null;
  const count = (key: string) => Math.max(0, Math.trunc(floatOf(usage, key)));
  const cost = isObject(usage.cost) && typeof usage.cost.total === "number" ? floatOf(usage.cost, "total") : null;
  return {
    provider: textOf(usage, "provider"),
    model: textOf(usage, "model"),
    input: count("input"),
    output: count("output"),
    cacheRead: count("cache_read"),
    cacheWrite: count("cache_write"),
    cost,
  };
}

/** A name for a model: `provider/model`, or the one of them that is known; `""` when neither is. */
export function modelName(provider: string, model: string): string {
  return provider !== "" && model !== "" ? `${provider}/${model}` : model || provider;
}
