import type { Block, Document } from "../session/document.ts";
import { formatCost, formatTokens } from "./format.ts";
import { type Grouping, type Ledger, type LedgerRow, ledgerOf, type UsageSession } from "./ledger.ts";
import type { PriceBook } from "./prices.ts";
import { promptTokens } from "./request.ts";

const BAR = 16;
const MOST_ROWS = 60;

const SECTIONS: readonly { by: Grouping; title: string }[] = [
  { by: "day", title: "by day" },
  { by: "model", title: "by model" },
  { by: "agent", title: "by agent" },
  { by: "project", title: "by project" },
  { by: "session", title: "by session" },
];

/** The usage of all sessions together, each request counted once: totals, then bars per day, model, agent, project, session. */
export function totalsDocument(
  sessions: readonly UsageSession[],
  timezone: string,
  prices: PriceBook | null,
): Document {
  const ledgers = SECTIONS.map(({ by, title }) => ({
    by,
    title,
    ledger: ledgerOf(sessions, { by, since: null, until: null, timezone }, prices),
  }));
  const first = ledgers[0]?.ledger;
  if (!first || first.total.requests === 0) {
    return { title: "usage", blocks: [{ type: "text", text: "No session here records its usage.", tone: "faint" }] };
  }
  const blocks: Block[] = [{ type: "fields", rows: totals(first) }];
  for (const { by, title, ledger } of ledgers) {
    blocks.push({ type: "heading", text: title }, table(ledger.rows, by));
  }
  return { title: "usage", blocks };
}

function totals(ledger: Ledger): { label: string; value: string }[] {
  const { total, cacheHitRate, duplicates, unpriced, coldCache } = ledger;
  const rows = [
    { label: "cost", value: formatCost(total.cost, total.costBasis) },
    { label: "requests", value: formatTokens(total.requests) },
    { label: "input", value: formatTokens(total.input) },
    { label: "cache read", value: formatTokens(total.cacheRead) },
    { label: "cache write", value: formatTokens(total.cacheWrite) },
    { label: "output", value: formatTokens(total.output) },
  ];
  if (cacheHitRate !== null) rows.push({ label: "cache hit rate", value: `${Math.round(cacheHitRate * 100)}%` });
  if (coldCache.requests > 0) {
    const cost = coldCache.cost === null ? "" : `, ${formatCost(coldCache.cost, "estimated")} more`;
    rows.push({ label: "after pauses", value: `${coldCache.requests} requests found the cache cold${cost}` });
  }
  if (duplicates > 0)
    rows.push({
      label: "left out",
      value: `${duplicates} ${duplicates === 1 ? "copy" : "copies"} of requests, counted where they were made`,
    });
  if (unpriced.requests > 0) {
    rows.push({
      label: "unpriced",
      value: `${unpriced.requests} requests of ${unpriced.models.join(", ")}: the cost is at least this`,
    });
  }
  return rows;
}

function table(rows: readonly LedgerRow[], by: Grouping): Block {
  const weight = (row: LedgerRow): number => promptTokens(row.usage) + row.usage.output;
  const biggest = Math.max(1, ...rows.map(weight));
  return {
    type: "table",
    columns: [
      { title: by, flexible: true },
      { title: "tokens", align: "right" },
      { title: "output", align: "right", from: 70 },
      { title: "cached", align: "right", from: 60 },
      { title: "cost", align: "right" },
      { title: "", from: 64 },
    ],
    rows: rows.slice(0, MOST_ROWS).map((row) => ({
      cells: [
        row.label,
        formatTokens(promptTokens(row.usage) + row.usage.output),
        formatTokens(row.usage.output),
        row.cacheHitRate === null ? "–" : `${Math.round(row.cacheHitRate * 100)}%`,
        formatCost(row.usage.cost, row.usage.costBasis),
        "▇".repeat(Math.round((weight(row) / biggest) * BAR)) || "▏",
      ],
      ...(by === "session" ? { target: row.name } : {}),
    })),
  };
}
