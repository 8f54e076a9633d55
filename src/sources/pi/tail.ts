import { NEW_TAIL, type OpenCall, type Tail } from "../by-process/tail.ts";
import { callsOf, kindOf, type PiFile, ROW } from "./file.ts";
import { activePath } from "./tree.ts";

const SPOKEN = ROW.user | ROW.assistant | ROW.result | ROW.bash;

/** How the active branch ends (agents.md §3.3): markers, labels and summaries behind it do not count. */
export function tailOf(file: PiFile): Tail {
  const path = activePath(file);
  const row = path.findLast((one) => (kindOf(file, one) & SPOKEN) !== 0);
  if (row === undefined) return NEW_TAIL;
  const kind = kindOf(file, row);
  const time = file.times[row] || null;
  const end = (state: Tail["state"], evidence: string, text: string | null = null): Tail => ({
    state,
    evidence,
    text,
    time,
    calls: [],
  });
  if ((kind & ROW.bash) !== 0) return end("over", "the last entry is a local command");
  if ((kind & ROW.error) !== 0) return end("error", "the last reply is an error", errorAt(file, row));
  if ((kind & ROW.aborted) !== 0) return end("interrupted", "the last reply was aborted", errorAt(file, row));
  if ((kind & ROW.stop) !== 0) return end("over", "the last reply ended its turn");
  const calls = openCalls(file, path);
  if ((kind & ROW.user) !== 0) return end("open", "the last prompt has no reply");
  if (calls.length > 0) return { ...end("open", "calls wait for their results"), calls };
  if ((kind & ROW.result) !== 0) return end("open", "the last entry is a result no model has seen");
  return end(callsOf(kind) > 0 ? "open" : "over", "the last entry is a reply");
}

function errorAt(file: PiFile, row: number): string | null {
  return file.errors.findLast((one) => one.row === row)?.text ?? null;
}

/** Calls of the branch without results. An id may come again: a result answers the calls that stand before it. */
export function openCalls(file: PiFile, path: readonly number[]): OpenCall[] {
  const places = new Map(path.map((row, at) => [row, at]));
  const answered = new Map<string, number>();
  for (const { row, id } of file.results) {
    answered.set(id, Math.max(answered.get(id) ?? -1, places.get(row) ?? -1));
  }
  return file.calls
    .filter((call) => {
      const at = places.get(call.row);
      return at !== undefined && at >= (answered.get(call.id) ?? -1) && !isDead(file, call.row);
    })
    .map(({ id, name, summary, question }) => ({ id, name, summary, question }));
}

/** pi drops the calls of a reply that failed or was stopped: nothing waits for them. */
export function isDead(file: PiFile, row: number): boolean {
  return (kindOf(file, row) & (ROW.error | ROW.aborted)) !== 0;
}
