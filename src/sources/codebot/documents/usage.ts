import type { Block, Document, Row } from "../../../session/document.ts";
import type { Snapshot } from "../../../session/snapshot.ts";
import { cleanLine } from "../../../session/untrusted.ts";
import type { CallSums } from "../chain-state.ts";
import type { SessionState } from "../fold.ts";
import { isoOf } from "../go-time.ts";
import { requestsOf, type SessionRequest } from "../requests.ts";
import { breakText } from "../state-entries.ts";
import { opener } from "../view-items.ts";
import { amount, minute, share } from "./numbers.ts";

/** Every call with its cache hit rate, and the cache breaks with drop and cause (codebot.md §7). */
export function usageDocument(state: SessionState, snapshot: Snapshot): Document {
  const requests = requestsOf(state);
  const opens = opener(state);
  const blocks: Block[] = [sums(state, snapshot)];
  const breaks = state.entries.filter((facts) => facts.call?.cacheBreak);
  if (breaks.length > 0) {
    blocks.push(
      { type: "heading", text: "cache breaks" },
      {
        type: "table",
        columns: [
          { title: "time", from: 60 },
          { title: "read before", align: "right", from: 60 },
          { title: "read after", align: "right", from: 60 },
          { title: "what happened", flexible: true },
        ],
        rows: breaks.flatMap((facts): Row[] => {
          const info = facts.call?.cacheBreak;
          if (!info) return [];
          return [
            {
              cells: [
                minute(isoOf(facts.time)),
                amount(info.prevCacheReadTokens),
                amount(info.currCacheReadTokens),
                cleanLine(breakText(info)),
              ],
              tone: info.expected ? "faint" : "warn",
              open: opens(facts),
            },
          ];
        }),
      },
    );
  }
  blocks.push({ type: "heading", text: "calls" }, calls(requests, opens));
  return { title: "usage", blocks };
}

function sums(state: SessionState, { usage, own }: Snapshot): Block {
  if (usage === null) return { type: "text", text: "No usage is recorded." };
  const prompt = usage.input + usage.cacheRead;
  return {
    type: "fields",
    rows: [
      { label: "calls", value: amount(usage.requests) },
      { label: "input, uncached", value: amount(usage.input) },
      { label: "cache read", value: `${amount(usage.cacheRead)} (${share(usage.cacheRead, prompt)} of the prompt)` },
      { label: "cache write", value: amount(usage.cacheWrite) },
      { label: "output", value: amount(usage.output) },
      {
        label: "cost",
        value: usage.cost === null ? "–" : `${usage.costBasis === "partial" ? "≥ " : ""}$${usage.cost.toFixed(4)}`,
      },
      ...(state.leaves > 1 ? [{ label: "on the current branch", value: chainWords(state.chain.calls) }] : []),
      ...(own !== null && own.requests < usage.requests
        ? [{ label: "of these own", value: `${amount(own.requests)} calls; the others came with the copied beginning` }]
        : []),
    ],
  };
}

function chainWords(calls: CallSums): string {
  const uncached = Math.max(0, calls.input - calls.cacheRead);
  return `${amount(calls.calls)} calls, ${amount(uncached)} in, ${amount(calls.output)} out`;
}

function calls(requests: readonly SessionRequest[], opens: ReturnType<typeof opener>): Block {
  return {
    type: "table",
    columns: [
      { title: "time", from: 50 },
      { title: "model", flexible: true, from: 80 },
      { title: "input", align: "right" },
      { title: "cache", align: "right" },
      { title: "hit", align: "right" },
      { title: "output", align: "right" },
      { title: "latency", align: "right", from: 70 },
      { title: "stop", from: 90 },
      { title: "effort", from: 100 },
    ],
    rows: requests.map(({ facts, request }): Row => {
      const { call } = facts;
      const model = [request.provider, request.model].filter((part) => part !== null).join("/");
      return {
        cells: [
          minute(request.time),
          cleanLine(model),
          amount(request.input),
          amount(request.cacheRead),
          share(request.cacheRead, request.input + request.cacheRead),
          amount(request.output),
          call === undefined || call.latencyMs === 0 ? "–" : `${(call.latencyMs / 1000).toFixed(1)} s`,
          cleanLine(call?.stopReason ?? facts.message?.stop ?? ""),
          cleanLine(call?.reasoningEffort ?? ""),
        ],
        ...(call?.cacheBreak && !call.cacheBreak.expected ? { tone: "warn" as const } : {}),
        open: opens(facts),
      };
    }),
    empty: "No call yet: codebot records one with every answer that has usage.",
  };
}
