import stringWidth from "fast-string-width";
import * as z from "zod";
import { usageSessions } from "../live/usage-sessions.ts";
import type { SessionKey } from "../session/key.ts";
import type { Usage } from "../session/snapshot.ts";
import { cleanLine, cutCodePoints, jsonText } from "../session/untrusted.ts";
import { type Audit, auditOf } from "../usage/audit.ts";
import { formatCost, formatTokens } from "../usage/format.ts";
import {
  GROUPINGS,
  type Grouping,
  type Ledger,
  type LedgerOptions,
  ledgerOf,
  type UsageSession,
} from "../usage/ledger.ts";
import { loadPrices } from "../usage/prices.ts";
import { promptTokens } from "../usage/request.ts";
import { findSession, openWorkplace, print, readEverything, type SharedOptions } from "./context.ts";
import { WrongUsage } from "./wrong-usage.ts";

/** `forktail usage` as it was asked for. */
export interface UsageOptions extends LedgerOptions {
  json: boolean;
  /** Print the requests behind this session's number instead. */
  audit: SessionKey | null;
}

/** There is no such session: exit code 1. */
export class NoSuchSession extends Error {
  override name = "NoSuchSession";
}

const given = z.object({
  by: z.enum(GROUPINGS).default("day"),
  since: z.string().optional(),
  until: z.string().optional(),
  timezone: z.string().optional(),
  json: z.boolean().default(false),
  audit: z.string().optional(),
});

/** Checks what came from the command line. Throws WrongUsage with what is wrong. */
export function readUsageOptions(raw: unknown): UsageOptions {
  const parsed = given.safeParse(raw);
  if (!parsed.success) {
    const first = parsed.error.issues[0];
    const flag = String(first?.path[0] ?? "");
    throw new WrongUsage(
      flag === "by" ? `--by is one of ${GROUPINGS.join(", ")}` : `--${flag}: ${first?.message ?? "wrong"}`,
    );
  }
  const { by, since, until, timezone, json, audit } = parsed.data;
  return {
    by,
    since: dayOf("--since", since),
    until: dayOf("--until", until),
    timezone: zoneOf(timezone),
    json,
    audit: audit ?? null,
  };
}

function dayOf(flag: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  const day = /^(\d{4})-?(\d{2})-?(\d{2})$/u.exec(text);
  const iso = day === null ? "" : `${day[1]}-${day[2]}-${day[3]}`;
  const at = new Date(`${iso}T00:00:00Z`);
  if (Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== iso)
    throw new WrongUsage(`${flag} is a day like 2026-11-20`);
  return iso;
}

function zoneOf(name: string | undefined): string {
  const zone = name ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    throw new WrongUsage(`--timezone is a name like Europe/Berlin or UTC, not ${cleanLine(zone)}`);
  }
}

/** `forktail usage [--by …] [--since DAY] [--until DAY] [--timezone ZONE] [--audit KEY] [--json]`. */
export async function usage(raw: SharedOptions): Promise<number> {
  const options = readUsageOptions(raw);
  const place = await openWorkplace(raw);
  const { sessions } = await readEverything(place);
  const audit = options.audit === null ? null : findSession(sessions, options.audit).key;
  await print(await usageReport(await usageSessions(place.live, sessions.values()), { ...options, audit }));
  await place.live.close();
  return 0;
}

/** What `forktail usage` prints, without the last line break. Sessions are all there are, hidden ones too. */
export async function usageReport(sessions: readonly UsageSession[], options: UsageOptions): Promise<string> {
  const prices = await loadPrices();
  if (options.audit !== null) {
    const audit = auditOf(options.audit, sessions, prices);
    if (audit === null) throw new NoSuchSession(`there is no session ${cleanLine(options.audit)}`);
    return options.json ? jsonText({ schema: 1, audit }, 2) : auditText(audit);
  }
  const ledger = ledgerOf(sessions, options, prices);
  return options.json ? ledgerJson(ledger, options) : ledgerText(ledger, options.by);
}

function ledgerJson(ledger: Ledger, options: UsageOptions): string {
  const { by, since, until, timezone } = options;
  const rows = ledger.rows.map(({ usage, ...row }) => ({ ...row, ...usage }));
  const { total, cacheHitRate, duplicates, unpriced, coldCache } = ledger;
  return jsonText(
    { schema: 1, by, timezone, since, until, rows, total: { ...total, cacheHitRate }, duplicates, unpriced, coldCache },
    2,
  );
}

const HEAD: Record<Grouping, string> = {
  day: "day",
  model: "model",
  project: "project",
  agent: "agent",
  session: "session",
};
const MOST_NAME = 48;
const BAR = 20;

function ledgerText(ledger: Ledger, by: Grouping): string {
  if (ledger.total.requests === 0) return "No usage was recorded.";
  const biggest = Math.max(...ledger.rows.map((row) => weight(row.usage)), 1);
  const lines: string[][] = [[HEAD[by], "requests", "input", "cache read", "cache write", "output", "cost", ""]];
  for (const { label, usage } of ledger.rows)
    lines.push([shownName(label), ...cells(usage), bar(weight(usage) / biggest)]);
  lines.push(["total", ...cells(ledger.total), ""]);
  return [...columns(lines), "", ...notes(ledger)].join("\n").trimEnd();
}

function weight(usage: Usage): number {
  return usage.cost ?? 0;
}

function bar(share: number): string {
  return "█".repeat(Math.round(share * BAR));
}

function shownName(name: string): string {
  return cutCodePoints(cleanLine(name), MOST_NAME);
}

function cells(usage: Usage): string[] {
  const numbers = [usage.requests, usage.input, usage.cacheRead, usage.cacheWrite, usage.output];
  return [...numbers.map(formatTokens), formatCost(usage.cost, usage.costBasis)];
}

function notes(ledger: Ledger): string[] {
  const { total, cacheHitRate, duplicates, unpriced, coldCache } = ledger;
  const found: string[] = [];
  if (cacheHitRate !== null) {
    found.push(
      `${Math.round(cacheHitRate * 100)}% of ${formatTokens(promptTokens(total))} prompt tokens came from a cache.`,
    );
  }
  if (coldCache.requests > 0) {
    const cost = coldCache.cost === null ? "" : `, about ${formatCost(coldCache.cost, "estimated")} more`;
    found.push(
      `${coldCache.requests} requests came after the cache had gone cold: ${formatTokens(coldCache.tokens)} tokens again${cost}.`,
    );
  }
  if (duplicates > 0) found.push(`${duplicates} copies of requests in forks and resumed sessions were left out.`);
  if (unpriced.requests > 0) {
    found.push(
      `${unpriced.requests} requests have no known price (${unpriced.models.join(", ")}): ≥ is a lower bound.`,
    );
  }
  if (total.costBasis === "estimated" || total.costBasis === "partial") {
    found.push("~ is estimated from list prices; what was billed may differ.");
  }
  return found;
}

function auditText(audit: Audit): string {
  const head = ["time (UTC)", "model", "by", "input", "cache read", "cache write", "output", "cost", "request"];
  const row = (one: Audit["requests"][number]): string[] => [
    one.time?.slice(0, 19).replace("T", " ") ?? "–",
    shownName(one.model ?? "–"),
    shownName(one.by ?? "–"),
    ...[one.input, one.cacheRead, one.cacheWrite, one.output].map(formatTokens),
    formatCost(one.price, one.price === null ? null : one.cost === null ? "estimated" : "recorded"),
    cleanLine(one.key),
  ];
  const lines = [`${audit.key}  ${shownName(audit.title)}`, "", ...columns([head, ...audit.requests.map(row)])];
  const { own } = audit;
  lines.push("", `${own.requests} requests, ${formatCost(own.cost, own.costBasis)}`);
  if (audit.leftOut.length > 0) {
    lines.push("", `left out, because another session owns them: ${audit.leftOut.length}`);
    for (const { request, owner } of audit.leftOut) lines.push(`  ${cleanLine(request.key)}  ${owner}`);
  }
  return lines.join("\n");
}

/** Text left, numbers right; the last column as it is. */
function columns(lines: readonly string[][]): string[] {
  const count = Math.max(...lines.map((line) => line.length));
  const widths = Array.from({ length: count }, (_, i) => Math.max(...lines.map((line) => stringWidth(line[i] ?? ""))));
  const isText = (i: number): boolean =>
    i === 0 || i === count - 1 || lines.slice(1).some((line) => /^[a-z]/iu.test(line[i] ?? ""));
  return lines.map((line) =>
    line
      .map((cell, i) => {
        const room = " ".repeat(Math.max(0, (widths[i] ?? 0) - stringWidth(cell)));
        return isText(i) ? cell + room : room + cell;
      })
      .join("  ")
      .trimEnd(),
  );
}
