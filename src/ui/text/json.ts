import type { Line } from "./line.ts";
import { span } from "./line.ts";
import { printableLine, printableText } from "./printable.ts";
import { wrapSpans } from "./wrap.ts";

/** Below this depth only counts are shown: hostile nesting is bounded, and nobody reads it. */
const DEEPEST = 8;
const INDENT = 2;

interface JsonRow {
  indent: number;
  spans: Line;
}

/**
 * A value as indented JSON, in lines of at most `width` columns; `more` when it did not fit in `limit` lines.
 * A string of many lines is shown line by line, as it would be read, not with \n in it.
 */
export function jsonLines(value: unknown, width: number, limit: number): { lines: Line[]; more: boolean } {
  const lines: Line[] = [];
  // Deep members stay readable in a narrow pane.
  const half = Math.max(0, Math.floor(width / 2));
  for (const row of valueRows(value, [], "", 0)) {
    if (lines.length >= limit) return { lines, more: true };
    const margin = Math.min(row.indent, half);
    const first = margin > 0 ? [span(" ".repeat(margin))] : [];
    const hang = Math.min(margin + INDENT, half);
    const rest = hang > 0 ? [span(" ".repeat(hang))] : [];
    const laid = wrapSpans(row.spans, width, { first, rest, limit: limit - lines.length + 1 });
    lines.push(...laid);
  }
  return lines.length > limit ? { lines: lines.slice(0, limit), more: true } : { lines, more: false };
}

function* valueRows(value: unknown, head: Line, tail: string, depth: number): Generator<JsonRow> {
  const indent = depth * INDENT;
  if (typeof value === "string" && value.includes("\n")) {
    yield* textRows(value, head, tail, indent);
  } else if (typeof value !== "object" || value === null) {
    yield { indent, spans: [...head, ...scalar(value), ...close(tail)] };
  } else {
    yield* nestedRows(value, head, tail, depth);
  }
}

function* nestedRows(value: object, head: Line, tail: string, depth: number): Generator<JsonRow> {
  const indent = depth * INDENT;
  const list = Array.isArray(value);
  const keys = Object.keys(value);
  const [open, shut] = list ? ["[", "]"] : ["{", "}"];
  if (keys.length === 0) {
    yield { indent, spans: [...head, span(`${open}${shut}${tail}`, "faint")] };
  } else if (depth >= DEEPEST) {
    const count = `${keys.length} ${list ? "items" : "keys"}`;
    yield { indent, spans: [...head, span(`${open} ${count} ${shut}${tail}`, "faint")] };
  } else {
    yield { indent, spans: [...head, span(open, "faint")] };
    const members: [string, unknown][] = Object.entries(value);
    for (const [index, [key, member]] of members.entries()) {
      const name = list ? [] : [span(JSON.stringify(printableLine(key)), "label"), span(": ", "faint")];
      yield* valueRows(member, name, index < members.length - 1 ? "," : "", depth + 1);
    }
    yield { indent, spans: [span(`${shut}${tail}`, "faint")] };
  }
}

function* textRows(text: string, head: Line, tail: string, indent: number): Generator<JsonRow> {
  yield { indent, spans: [...head, span('"""', "faint")] };
  for (const line of printableText(text).split("\n")) {
    yield { indent: indent + INDENT, spans: line === "" ? [] : [span(line, "code")] };
  }
  yield { indent, spans: [span(`"""${tail}`, "faint")] };
}

function scalar(value: unknown): Line {
  if (typeof value === "string") return [span(`"${printableText(value)}"`, "code")];
  return [span(printableLine(String(value)), "accent")];
}

function close(tail: string): Line {
  return tail === "" ? [] : [span(tail, "faint")];
}

/** A value on one line of about `most` units: keys bare, the rest left out. For summaries. */
export function jsonSummary(value: unknown, most = 200): string {
  return printableLine(brief(value, 0, most)).slice(0, most * 2);
}

function brief(value: unknown, depth: number, most: number): string {
  if (typeof value === "string") return value.slice(0, most);
  if (typeof value !== "object" || value === null) return String(value);
  const keys = Object.keys(value);
  if (depth > 2) return Array.isArray(value) ? `[${keys.length}]` : `{${keys.length}}`;
  const members: string[] = [];
  let length = 0;
  for (const [key, member] of Object.entries(value)) {
    if (length > most) {
      members.push("...");
      break;
    }
    const said = brief(member, depth + 1, most);
    members.push(Array.isArray(value) ? said : `${key.slice(0, 60)}: ${said}`);
    length += said.length + key.length;
  }
  const inside = members.join(", ");
  if (depth === 0) return inside;
  return Array.isArray(value) ? `[${inside}]` : `{${inside}}`;
}
