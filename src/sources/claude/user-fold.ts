import { cutCodePoints } from "../../session/untrusted.ts";
import { type Fields, field, fieldsOf, listField, objectField, textField } from "../jsonl/record.ts";
import { CALLS, type ClaudeFile, ROW } from "./file.ts";
import { isRowId } from "./ids.ts";
import { looksExpanded, readUserRow } from "./user-row.ts";

const MOST_PROMPT = 400;

/** A row of type `user`: what it is, and what it says about how the file ends. */
export function noteUserRow(state: ClaudeFile, fields: Fields, row: number, time: number | null, side: boolean): void {
  const found = readUserRow(fields);
  const bit = (one: number): void => {
    state.kinds[row] = (state.kinds[row] ?? 0) | one;
  };
  const open = (evidence: string): void => {
    if (!side) state.tail = { state: "open", evidence, text: null, time, calls: state.tail.calls };
  };
  switch (found.kind) {
    case "prompt":
      bit(ROW.prompt);
      dropPendingCommand(state);
      state.prompts.push({ row, text: cutCodePoints(found.text, MOST_PROMPT), command: false });
      if (!side) state.tail.calls = [];
      open("the last record is a prompt");
      return;
    case "command":
      bit(ROW.command);
      dropPendingCommand(state);
      state.pendingCommand = state.prompts.length;
      state.prompts.push({ row, text: cutCodePoints(found.text, MOST_PROMPT), command: true });
      // Undecided until the next row; by its form when none comes.
      if (looksExpanded(fields)) {
        bit(ROW.prompt);
        if (!side) state.tailBefore = state.tail;
        open("the last record is a slash command");
      }
      return;
    case "command-output":
      rejectPendingCommand(state);
      return;
    case "result":
      bit(ROW.result);
      state.kinds[row] = (state.kinds[row] ?? 0) + takeResults(state, fields) * CALLS;
      open(state.tail.calls.length > 0 ? "calls are waiting for results" : "the last record is a tool's result");
      return;
    case "interrupt":
      bit(ROW.interrupt);
      if (!side) dropPendingCommand(state);
      if (!side)
        state.tail = { state: "interrupted", evidence: "interrupted by the person", text: null, time, calls: [] };
      return;
    case "compact-summary":
      bit(ROW.summary);
      return;
    case "notification":
      dropPendingCommand(state);
      open("the last record is a notification for the agent");
      return;
    case "meta":
      if (acceptPendingCommand(state)) open("the last record is a slash command's prompt");
      return;
    case "injected":
      return;
  }
}

/** The command became a prompt: text for the model, or a reply, followed it. */
export function acceptPendingCommand(state: ClaudeFile): boolean {
  const prompt = state.prompts[state.pendingCommand];
  dropPendingCommand(state);
  if (prompt === undefined) return false;
  state.kinds[prompt.row] = (state.kinds[prompt.row] ?? 0) | ROW.prompt;
  return true;
}

/** The command ran in the program itself: the file ends as it did before it. */
export function rejectPendingCommand(state: ClaudeFile): void {
  const prompt = state.prompts[state.pendingCommand];
  if (prompt !== undefined) {
    state.kinds[prompt.row] = (state.kinds[prompt.row] ?? 0) & ~ROW.prompt;
    state.tail = state.tailBefore ?? state.tail;
  }
  dropPendingCommand(state);
}

/** Another prompt came first: only its form says whether the command had become one. */
export function dropPendingCommand(state: ClaudeFile): void {
  state.pendingCommand = -1;
  state.tailBefore = null;
}

/** Closes the calls that are answered; returns how many answers there are. */
function takeResults(state: ClaudeFile, fields: Fields): number {
  let answers = 0;
  const agent = textField(objectField(fields, "toolUseResult"), "agentId");
  for (const block of listField(objectField(fields, "message"), "content")) {
    const id = textField(fieldsOf(block), "tool_use_id");
    if (id === null || field(fieldsOf(block), "type") !== "tool_result") continue;
    answers += 1;
    state.tail.calls = state.tail.calls.filter((call) => call.id !== id);
    if (agent !== null && isRowId(id)) state.agents[id] = agent.slice(0, 128);
  }
  return answers;
}
