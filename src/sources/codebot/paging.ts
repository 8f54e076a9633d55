import type { Entry } from "../../session/entry.ts";
import type { Page, PageRequest } from "../source.ts";

/** Where each item's entries begin, and at the end how many there are in all; `before` are those of earlier items. */
export function startsOf(parts: readonly number[], before: readonly number[] = [0]): number[] {
  const starts = [...before];
  let total = before.at(-1) ?? 0;
  for (const one of parts) {
    total += one;
    starts.push(total);
  }
  return starts;
}

/** The half-open range [from, to) of entries a request asks for. Cursors are positions. */
export function windowOf(request: PageRequest, total: number, positionOf: (ref: string) => number): [number, number] {
  const { at, limit } = request;
  const within = (position: number): number => {
    const whole = Number.isFinite(position) ? Math.trunc(position) : 0;
    return Math.min(Math.max(0, whole), total);
  };
  if ("edge" in at) return at.edge === "start" ? [0, within(limit)] : [within(total - limit), total];
  if ("before" in at) return [within(Number(at.before) - limit), within(Number(at.before))];
  const from = within("after" in at ? Number(at.after) : positionOf(at.ref));
  return [from, within(from + limit)];
}

export function pageOf(entries: Entry[], from: number, to: number, total: number): Page {
  const [before, after] = [String(from), String(to)];
  return { entries, before, after, atStart: from === 0, atEnd: to >= total, total, nextUpto: null };
}

/** An entry with at most `limit` bytes of text, cut between characters. */
export function clipped(entry: Entry, limit: number | undefined): Entry {
  if (limit === undefined || entry.text === null || entry.text.length * 3 <= limit) return entry;
  const bytes = Buffer.from(entry.text);
  if (bytes.length <= limit) return entry;
  let end = limit;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return { ...entry, text: bytes.toString("utf8", 0, end), clipped: bytes.length - end };
}
