import type { Block, Document, Row } from "../session/document.ts";
import type { Snapshot, Usage } from "../session/snapshot.ts";
import { cleanLine } from "../session/untrusted.ts";
import { missedCache } from "./cache-misses.ts";
import { formatCost, formatTokens } from "./format.ts";
import { type PriceBook, sumPriced } from "./prices.ts";
import { type ModelRequest, promptTokens } from "./request.ts";

const MOST_ROWS = 500;

/** The view `usage` of a session whose numbers are a sum of model requests: totals, models, sub-agents, each request. */
export function usageDocument(
  snapshot: Snapshot,
  requests: readonly ModelRequest[],
  prices: PriceBook | null,
): Document {
  const blocks: Block[] = [];
  const { context, usage, own } = snapshot;
  if (context !== null) {
    blocks.push({
      type: "gauge",
      label: "context",
      value: context.used,
      limit: context.limit,
      note: "after the last request",
    });
  }
  if (usage === null) {
    blocks.push({ type: "text", text: "The tool recorded no usage for this session.", tone: "faint" });
    return { title: "usage", blocks };
  }
  blocks.push({ type: "fields", rows: totalsOf(usage) });
  if (own !== null && own.requests < usage.requests) {
    blocks.push({ type: "heading", text: "of these its own" }, { type: "fields", rows: totalsOf(own) });
  }
  const missed = missedCache(requests, prices);
  if (missed.requests > 0) {
    const cost = missed.cost === null ? "" : `, about ${formatCost(missed.cost, "estimated")} more than from the cache`;
    blocks.push({
      type: "text",
      text: `${missed.requests} requests came after the cache had gone cold: ${formatTokens(missed.tokens)} tokens were read again${cost}.`,
      tone: "warn",
    });
  }
  blocks.push(...groups("by model", requests, prices, (one) => one.model ?? "unknown model"));
  if (requests.some((one) => one.by !== null)) {
    blocks.push(...groups("by agent", requests, prices, (one) => (one.by === null ? "itself" : `sub-agent ${one.by}`)));
  }
  blocks.push({ type: "heading", text: "requests" }, requestTable(requests, prices));
  return { title: "usage", blocks };
}

function totalsOf(usage: Usage): { label: string; value: string }[] {
  const prompt = promptTokens(usage);
  const hit = prompt === 0 ? "–" : `${Math.round((usage.cacheRead / prompt) * 100)}%`;
  return [
    { label: "requests", value: formatTokens(usage.requests) },
    { label: "input", value: formatTokens(usage.input) },
    { label: "cache read", value: `${formatTokens(usage.cacheRead)} (${hit} of the prompts)` },
    { label: "cache write", value: `${formatTokens(usage.cacheWrite)} (${formatTokens(usage.cacheWrite1h)} for 1 h)` },
    { label: "output", value: formatTokens(usage.output) },
    ...(usage.reasoning > 0 ? [{ label: "reasoning", value: `${formatTokens(usage.reasoning)} (in output)` }] : []),
    { label: "cost", value: formatCost(usage.cost, usage.costBasis) },
  ];
}

function groups(
  title: string,
  requests: readonly ModelRequest[],
  prices: PriceBook | null,
  nameOf: (request: ModelRequest) => string,
): Block[] {
  const byName = new Map<string, ModelRequest[]>();
  for (const request of requests) {
    const list = byName.get(nameOf(request));
    if (list === undefined) byName.set(nameOf(request), [request]);
    else list.push(request);
  }
  const rows: Row[] = [...byName].map(([name, list]) => {
    const sum = sumPriced(list, prices);
    return {
      cells: [
        cleanLine(name),
        formatTokens(sum.requests),
        formatTokens(promptTokens(sum)),
        formatTokens(sum.output),
        formatCost(sum.cost, sum.costBasis),
      ],
    };
  });
  return [
    { type: "heading", text: title },
    {
      type: "table",
      columns: [
        { title: "name", flexible: true },
        { title: "requests", align: "right" },
        { title: "prompt", align: "right" },
        { title: "output", align: "right" },
        { title: "cost", align: "right" },
      ],
      rows,
      empty: "none",
    },
  ];
}

function requestTable(requests: readonly ModelRequest[], prices: PriceBook | null): Block {
  const newest = requests.slice(-MOST_ROWS).reverse();
  return {
    type: "table",
    columns: [
      { title: "time" },
      { title: "model", flexible: true, from: 70 },
      { title: "prompt", align: "right" },
      { title: "cached", align: "right" },
      { title: "output", align: "right" },
      { title: "cost", align: "right", from: 60 },
    ],
    rows: newest.map((one) => {
      const prompt = promptTokens(one);
      const price = one.cost ?? prices?.price(one) ?? null;
      return {
        cells: [
          one.time?.slice(0, 19).replace("T", " ") ?? "–",
          cleanLine(one.model ?? "–"),
          formatTokens(prompt),
          prompt === 0 ? "–" : `${Math.round((one.cacheRead / prompt) * 100)}%`,
          formatTokens(one.output),
          formatCost(price, price === null ? null : one.cost === null ? "estimated" : "recorded"),
        ],
        ...(one.copied === true ? { tone: "faint" as const } : {}),
      };
    }),
    empty: "No model was asked yet.",
  };
}
