import { countField, type Fields, numberField, objectField } from "../jsonl/record.ts";
import type { PiFile } from "./file.ts";
import { nameAt, nameIndex } from "./names.ts";

/**
 * The request behind an entry, where it recorded one: replies, tool results, compactions, branch summaries and `usage`
 * entries may (agents.md §3.3). `named` null: the model in force at that point asked. Neither tokens nor cost, no request.
 */
export function takeUsage(
  state: PiFile,
  row: number,
  of: Fields | null,
  named: { provider: string | null; model: string | null } | null,
): void {
  const usage = objectField(of, "usage");
  const provider = named?.provider == null ? (state.providers[row] ?? -1) : nameIndex(state, named.provider);
  const model = named?.model == null ? (state.models[row] ?? -1) : nameIndex(state, named.model);
  const name = nameAt(state, model);
  if (named !== null && name !== null && !state.used.includes(name)) state.used.push(name);
  if (usage === null) return;
  const cacheWrite = countField(usage, "cacheWrite");
  const output = countField(usage, "output");
  const request = {
    row,
    provider,
    model,
    input: countField(usage, "input"),
    output,
    cacheRead: countField(usage, "cacheRead"),
    cacheWrite,
    cacheWrite1h: Math.min(cacheWrite, countField(usage, "cacheWrite1h")),
    reasoning: Math.min(output, countField(usage, "reasoning")),
    cost: numberField(objectField(usage, "cost"), "total"),
  };
  const tokens = request.input + request.output + request.cacheRead + request.cacheWrite;
  if (tokens === 0 && (request.cost ?? 0) <= 0) return;
  if (name !== null && !state.used.includes(name)) state.used.push(name);
  state.requests.push(request);
}
