import { expiresIn } from "../../session/expiry.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { STATUSES } from "../../session/status.ts";
import { age, ageOf, money, tokens } from "../text/amounts.ts";
import { cutLine, type Line, span, spread } from "../text/line.ts";
import { printableLine } from "../text/printable.ts";
import { type TonedSpan, toned } from "../toned.ts";

/** What a row of the list is drawn from; all of it plain, so that an equal row is not drawn again. */
export interface SessionRowFacts {
  snapshot: Snapshot;
  alias: string | null;
  pinned: boolean;
  /** Our own tags, joined by spaces: plain, so that equal rows compare equal. */
  tags: string;
  depth: number;
  hits: readonly number[];
  selected: boolean;
  /** Does the list have the keys? */
  focused: boolean;
  width: number;
  ascii: boolean;
  /** ms since 1970, moved once a minute. */
  clock: number;
  /** Of the spinner; only given to rows that spin. */
  frame: number;
}

/** From here on agent and amounts stand at the right edge of a row. */
const WIDE = 56;
/** A session that its tool deletes within this is marked. */
const SOON_MS = 7 * 86_400_000;
const SPINNER = ["◐", "◓", "◑", "◒"] as const;
const ASCII_SPINNER = ["*", "+"] as const;

/** The sign of a status: its glyph, or a frame of the spinner while something works. */
function statusGlyph(snapshot: Pick<Snapshot, "status">, frame: number, ascii: boolean): string {
  const row = STATUSES[snapshot.status];
  if (snapshot.status !== "working") return ascii ? row.ascii : row.glyph;
  const frames = ascii ? ASCII_SPINNER : SPINNER;
  return frames[frame % frames.length] ?? row.glyph;
}

/** Two lines: glyph, title, age; beneath the status and what goes on, with what it cost at the edge. */
export function sessionLines(facts: SessionRowFacts): [Line, Line] {
  const { snapshot, width, ascii } = facts;
  const indent = "  ".repeat(Math.min(facts.depth, 6));
  const mark = facts.selected ? (ascii ? ">" : "▎") : " ";
  const gutter = span(mark, facts.selected ? "accent" : "text");
  const title = printableLine(facts.alias ?? snapshot.title) || snapshot.id;
  const pin = facts.pinned ? [span(ascii ? "^" : "◉", "accent"), span(" ")] : [];
  const head: Line = [
    gutter,
    span(indent),
    toned(statusGlyph(snapshot, facts.frame, ascii), snapshot.status),
    span(" "),
    ...pin,
    ...painted(snapshot, ascii),
    ...titleSpans(title, facts),
    ...facts.tags.split(" ").flatMap((tag) => (tag === "" ? [] : [span(` #${printableLine(tag)}`, "label")])),
  ];
  const age = ageOf(snapshot.updatedAt, facts.clock);
  const first = spread(head, [span(age, "faint")], width);
  const word: Line = [
    span(facts.selected ? mark : " ", facts.selected ? "accent" : "text"),
    span(`${indent}  `),
    toned(snapshot.status, snapshot.status),
    ...(snapshot.certainty === "guess" ? [span("?", "faint")] : []),
  ];
  const doing = beneath(snapshot, width < WIDE);
  const said: Line = doing === "" ? word : [...word, span(" · ", "border"), span(doing, "faint")];
  const second = width >= WIDE ? spread(said, spent(snapshot, facts.clock, ascii), width) : cutLine(said, width);
  return [first, second];
}

function titleSpans(title: string, facts: SessionRowFacts): Line {
  // The hits are places in the title as it is written; where it had to be drawn otherwise they mean nothing.
  const drawnAsWritten = title === (facts.alias ?? facts.snapshot.title);
  const style = facts.selected && facts.focused ? "strong" : "text";
  if (facts.hits.length === 0 || !drawnAsWritten) return [span(title, style)];
  const hits = new Set(facts.hits);
  const pieces: Line = [];
  for (let at = 0; at < title.length; ) {
    const hit = hits.has(at);
    let end = at + 1;
    while (end < title.length && hits.has(end) === hit) end += 1;
    pieces.push(span(title.slice(at, end), hit ? "match" : style));
    at = end;
  }
  return pieces;
}

/** The colour that the person gave the session or its repository in its own tool. */
function painted(snapshot: Snapshot, ascii: boolean): TonedSpan[] {
  const { color } = snapshot.extra;
  return typeof color === "string" && color !== "" ? [{ ...span(ascii ? "|" : "▍"), paint: color }] : [];
}

/** What it is doing or asking; else where it is and who it is. */
function beneath(snapshot: Snapshot, withAgent: boolean): string {
  if (snapshot.activity !== null && snapshot.activity !== "") return printableLine(snapshot.activity);
  const where = snapshot.project ?? snapshot.cwd;
  return [where === null ? null : printableLine(where), withAgent ? snapshot.agent : null]
    .filter((part) => part !== null)
    .join(" · ");
}

/** At the right edge of wide rows: agent, how full the context is, what it cost; – where the tool records nothing. */
function spent(snapshot: Snapshot, clock: number, ascii: boolean): Line {
  const parts: string[] = [];
  if (snapshot.agent) parts.push(snapshot.agent);
  const { context, own } = snapshot;
  if (context?.limit) parts.push(`${Math.round((context.used / context.limit) * 100)}%`);
  if (own) parts.push(tokens(own.input + own.cacheRead + own.cacheWrite + own.output));
  const expires = expiresIn(snapshot, clock);
  if (expires !== null && expires < SOON_MS) parts.unshift(`${ascii ? "del" : "⌛"} ${age(expires)}`);
  if (own?.cost != null) parts.push(money(own.cost, own.costBasis, ascii));
  return [span(parts.join("  "), "faint")];
}
