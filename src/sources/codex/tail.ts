import type { PathEvent } from "./path.ts";
import { isShown } from "./path.ts";

interface OpenCall {
  id: string;
  summary: string;
  asks: string | null;
  escalated: boolean;
}

/** How a rollout ends (agents.md §2.5). */
export interface Tail {
  state: "new" | "open" | "over" | "error" | "aborted";
  evidence: string;
  text: string | null;
  time: number | null;
  calls: OpenCall[];
  /** The approval policy in force. */
  approval: string | null;
}

/** A tail that goes on with each event. */
export interface TailSoFar {
  tail: Tail;
  /** Does the file tell of tasks? Then nothing else ends a turn. */
  tasks: boolean;
}

export function noTail(): TailSoFar {
  const evidence = "nothing was said yet";
  return { tail: { state: "new", evidence, text: null, time: null, calls: [], approval: null }, tasks: false };
}

/** The last of task started, complete and aborted; in files that have no tasks, the last row of the conversation. */
export function tailOf(path: readonly PathEvent[]): Tail {
  const so = noTail();
  for (const one of path) stepTail(so, one);
  return so.tail;
}

export function stepTail(so: TailSoFar, { event, file, index, dropped }: PathEvent): void {
  if (dropped) return;
  const { tail, tasks } = so;
  const set = (state: Tail["state"], evidence: string, time: number | null, text: string | null = null): void => {
    Object.assign(tail, { state, evidence, time, text });
  };
  switch (event.k) {
    case "task":
      so.tasks = true;
      tail.calls = [];
      set("open", "the last turn has begun and not ended", event.time);
      break;
    case "done":
      tail.calls = [];
      if (event.error === null) set("over", "the last turn is complete", event.time);
      else set("error", "the last turn ended with an error", event.time, event.error);
      break;
    case "abort":
      tail.calls = [];
      set("aborted", `the last turn was aborted${event.reason === null ? "" : ` (${event.reason})`}`, event.time);
      break;
    case "context":
      tail.approval = event.approval ?? tail.approval;
      break;
    case "prompt":
      if (!isShown(file, index) || tasks) break;
      tail.calls = [];
      set("open", "the last record is a prompt", event.time);
      break;
    case "reply":
      if (isShown(file, index) && !tasks && tail.calls.length === 0)
        set("over", "the last record is a reply", event.time);
      break;
    case "call":
      if (event.answered) break;
      tail.calls.push({ id: event.id, summary: event.summary, asks: event.asks, escalated: event.escalated });
      if (!tasks) set("open", "a call is waiting for its result", event.time);
      break;
    case "result":
      tail.calls = tail.calls.filter((call) => call.id !== event.id);
      if (!tasks) set("open", "the last record is a call's result", event.time);
      break;
    default:
  }
}
