import type { Entry } from "../../session/entry.ts";
import { ageOf, bytes, grouped, money, tokens } from "./amounts.ts";
import { bodyLines, clippedLine } from "./entry-body.ts";
import { callLines } from "./entry-call.ts";
import { type EntryOptions, isFolded, MOST_LINES, type Sheet } from "./entry-options.ts";
import { resultLines } from "./entry-result.ts";
import { glyphs } from "./glyphs.ts";
import { cutLine, type Line, lineWidth, type Span, type Style, span, spread } from "./line.ts";
import { printableLine } from "./printable.ts";
import { fitting } from "./width.ts";
import { wrapSpans } from "./wrap.ts";

/**
 * An entry of a transcript as lines of at most `width` columns. Every kind tells itself by a sign of its own in the
 * first column, so that no meaning hangs on colour; every fold says how much it hides.
 */
export function layoutEntry(entry: Entry, options: EntryOptions): Line[] {
  const width = Math.max(1, options.width);
  const margin = options.context ? 1 : 0;
  const sheet: Sheet = {
    width: Math.max(1, width - margin),
    fold: options.fold,
    ascii: options.ascii,
    glyphs: glyphs(options.ascii),
    now: options.now,
    paired: options.paired,
  };
  const lines = [...kindLines(entry, sheet), ...mediaLines(entry, sheet)];
  if (entry.clipped > 0 && showsText(entry, sheet)) lines.push(clippedLine(entry.clipped, [span("  ")], sheet));
  if (entry.usage && entry.kind !== "step" && !isFolded(sheet.fold))
    lines.push([span("  "), ...usageSpans(entry, sheet)]);
  const fitted = lines.map((line) => bounded(line, sheet));
  if (margin === 0) return fitted;
  const mark = entry.inContext ? span(" ") : span(sheet.glyphs.outside, "warn");
  return fitted.map((line) => bounded([mark, ...line], { ...sheet, width }));
}

/** The bounds of a narrow screen are kept whatever a layout did. */
function bounded(line: Line, sheet: Sheet): Line {
  return lineWidth(line) <= sheet.width ? line : cutLine(line, sheet.width, { ellipsis: sheet.glyphs.ellipsis });
}

function kindLines(entry: Entry, sheet: Sheet): Line[] {
  switch (entry.kind) {
    case "message":
      return messageLines(entry, sheet);
    case "text":
      return replyLines(entry, sheet);
    case "thinking":
      return thinkingLines(entry, sheet);
    case "call":
      return callLines(entry, sheet);
    case "result":
      return resultLines(entry, sheet);
    case "step":
      return stepLines(entry, sheet);
    case "error":
      return errorLines(entry, sheet);
    case "compaction":
      return compactionLines(entry, sheet);
    case "marker":
      return markerLines(entry, sheet);
    case "start":
    case "config":
    case "system":
      return foldableLines(entry, entry.kind, sheet);
  }
}

/** A prompt, with a bar beside it; what the tool wrote in the person's place is faint and says so. */
function messageLines(entry: Entry, sheet: Sheet): Line[] {
  if (entry.role === "assistant") return replyLines(entry, sheet);
  const style: Style = entry.injected ? "injected" : "user";
  const bar = [span(`${entry.injected ? sheet.glyphs.injectedBar : sheet.glyphs.bar} `, style)];
  const limit = entry.injected ? MOST_LINES.injected[sheet.fold] : MOST_LINES.message[sheet.fold];
  const text = entry.text ?? "";
  if (text.trim() === "" && entry.media !== null) return [];
  const when = sheet.width >= 60 && entry.time !== null ? ageOf(entry.time, sheet.now) : "";
  const reserve = when === "" ? 0 : when.length + 1;
  const lines = bodyLines(
    {
      text: text.trim() === "" ? "(empty)" : text,
      style,
      limit,
      first: bar,
      rest: bar,
      lead: senderOf(entry),
      reserve,
    },
    sheet,
  );
  const [first, ...others] = lines;
  return first && when !== "" ? [spread(first, [span(when, "faint")], sheet.width), ...others] : lines;
}

/** Who speaks, where it is not simply the person. */
function senderOf(entry: Entry): Span[] {
  const words: string[] = [];
  if (entry.injected) words.push("injected");
  if (entry.role !== null && entry.role !== "user") words.push(printableLine(entry.role));
  if (entry.via !== null) words.push(`via ${printableLine(entry.via)}`);
  return words.length === 0 ? [] : [{ text: `${words.join(" ")}: `, style: "faint", italic: true }];
}

function replyLines(entry: Entry, sheet: Sheet): Line[] {
  const text = entry.text ?? "";
  if (text.trim() === "") return entry.media === null ? [[span("  "), span("(empty)", "faint")]] : [];
  if (sheet.fold === "outline") return [outlineLine(text, entry.clipped, sheet)];
  const indent = [span("  ")];
  return bodyLines(
    { text, style: "assistant", limit: MOST_LINES.text[sheet.fold], first: indent, rest: indent, markdown: true },
    sheet,
  );
}

/** The beginning of a reply, and at the right how much there is when that is not all. */
function outlineLine(text: string, clipped: number, sheet: Sheet): Line {
  const start = printableLine(text.slice(0, sheet.width * 4 + 256));
  const line: Line = [span("  "), span(start, "assistant")];
  const size = clipped > 0 || lineWidth(line) > sheet.width ? bytes(Buffer.byteLength(text) + clipped) : "";
  return spread(line, size === "" ? [] : [span(size, "faint")], sheet.width, sheet.glyphs.ellipsis);
}

function thinkingLines(entry: Entry, sheet: Sheet): Line[] {
  const text = entry.text ?? "";
  const head: Line = [
    span(`${sheet.glyphs.thinking} `, "thinking"),
    { text: "thinking", style: "thinking", italic: true },
  ];
  if (isFolded(sheet.fold) || text.trim() === "") return [foldedLine(head, entry, sheet)];
  const indent = [span("  ")];
  const limit = MOST_LINES.detail[sheet.fold];
  return [head, ...bodyLines({ text, style: "thinking", italic: true, limit, first: indent, rest: indent }, sheet)];
}

/** A head, the beginning of the text as far as it fits, and at the right how much there is. */
function foldedLine(head: Line, entry: Entry, sheet: Sheet): Line {
  const text = entry.text ?? "";
  const start = printableLine(text.slice(0, sheet.width * 4 + 256));
  const size = text === "" ? [] : [span(bytes(Buffer.byteLength(text) + entry.clipped), "faint")];
  const left: Line = start === "" ? head : [...head, span(` ${sheet.glyphs.dot} `, "faint"), span(start, "faint")];
  return spread(left, size, sheet.width, sheet.glyphs.ellipsis);
}

/** start, config, system: one line that opens. */
function foldableLines(entry: Entry, title: string, sheet: Sheet): Line[] {
  const text = entry.text ?? "";
  const label = span(
    entry.role !== null && entry.role !== title ? `${title} ${printableLine(entry.role)}` : title,
    "label",
  );
  const model = entry.model === null ? [] : [span(` ${printableLine(entry.model)}`, "accent")];
  const head = (sign: string): Line => [span(`${sign} `, "faint"), label, ...model];
  if (text.trim() === "") return [head(sheet.glyphs.dot)];
  const whole: Line = [...head(sheet.glyphs.dot), span(` ${printableLine(text.slice(0, 500))}`, "faint")];
  const short = text.length < 500 && !text.trim().includes("\n") && entry.clipped === 0;
  if (short && lineWidth(whole) <= sheet.width) return [whole];
  if (isFolded(sheet.fold)) return [foldedLine(head(sheet.glyphs.folded), entry, sheet)];
  const indent = [span("  ")];
  const limit = MOST_LINES.detail[sheet.fold];
  return [head(sheet.glyphs.opened), ...bodyLines({ text, style: "faint", limit, first: indent, rest: indent }, sheet)];
}

function stepLines(entry: Entry, sheet: Sheet): Line[] {
  const head: Line = [span(`${sheet.glyphs.step} step`, "faint")];
  if (entry.model !== null) head.push(span(` ${printableLine(entry.model)}`, "faint"));
  const usage = usageSpans(entry, sheet);
  const line = usage.length > 0 ? [...head, span(` ${sheet.glyphs.dot} `, "faint"), ...usage] : head;
  const text = entry.text ?? "";
  const indent = [span("  ")];
  const wrapped = wrapSpans(line, sheet.width, { first: [], rest: indent });
  if (text.trim() === "") return wrapped;
  const limit = Math.max(1, MOST_LINES.detail[sheet.fold]);
  return [...wrapped, ...bodyLines({ text, style: "faint", limit, first: indent, rest: indent }, sheet)];
}

/** "in 1.2k, cached 34k, wrote 2k, out 950, $0.04": only what is there. */
function usageSpans(entry: Entry, sheet: Sheet): Line {
  const usage = entry.usage;
  if (usage === null) return [];
  const parts = [`in ${tokens(usage.input)}`];
  if (usage.cacheRead > 0) parts.push(`cached ${tokens(usage.cacheRead)}`);
  if (usage.cacheWrite > 0) parts.push(`wrote ${tokens(usage.cacheWrite)}`);
  parts.push(`out ${tokens(usage.output)}`);
  if (usage.cost !== null) parts.push(money(usage.cost, null, sheet.ascii));
  return [span(parts.join(", "), "faint")];
}

function errorLines(entry: Entry, sheet: Sheet): Line[] {
  const first: Line = [span(`${sheet.glyphs.bad} `, "bad")];
  const lead: Span[] = [{ text: "error: ", style: "bad", bold: true }];
  const text = (entry.text ?? "").trim() === "" ? "(no message)" : (entry.text ?? "");
  return bodyLines({ text, style: "bad", limit: MOST_LINES.error[sheet.fold], first, rest: [span("  ")], lead }, sheet);
}

/** A rule across: what is above it the model knows only from the summary. */
function compactionLines(entry: Entry, sheet: Sheet): Line[] {
  const text = entry.text ?? "";
  const size = text === "" ? "" : ` ${sheet.glyphs.dot} ${bytes(Buffer.byteLength(text) + entry.clipped)}`;
  const title = `${sheet.glyphs.rule}${sheet.glyphs.rule} compacted${size} `;
  const { width } = fitting(title, sheet.width);
  const rule: Line = [
    span(title, "accent"),
    span(sheet.glyphs.rule.repeat(Math.max(0, sheet.width - width)), "border"),
  ];
  const shown = rule.filter((piece) => piece.text !== "");
  if (isFolded(sheet.fold) || text.trim() === "") return [shown];
  const indent = [span("  ")];
  const limit = MOST_LINES.detail[sheet.fold];
  return [shown, ...bodyLines({ text, style: "faint", limit, first: indent, rest: indent, markdown: true }, sheet)];
}

function markerLines(entry: Entry, sheet: Sheet): Line[] {
  const said = entry.text ?? entry.model ?? entry.via ?? entry.role ?? "marker";
  const first = [span(`${sheet.glyphs.marker} `, "accent")];
  const limit = Math.max(2, MOST_LINES.detail[sheet.fold]);
  return bodyLines({ text: said.trim() || "marker", style: "faint", limit, first, rest: [span("  ")] }, sheet);
}

/** A body that is no text: its type and size. */
function mediaLines(entry: Entry, sheet: Sheet): Line[] {
  if (entry.media === null) return [];
  const said = `${printableLine(entry.media.type) || "media"}, ${grouped(entry.media.bytes)} bytes`;
  const bar = entry.kind === "message" && entry.role !== "assistant" ? `${sheet.glyphs.bar} ` : "  ";
  return [[span(bar, "user"), span(`[${said}]`, "faint")]];
}

/** A folded line names its size already, what is clipped included. */
function showsText(entry: Entry, sheet: Sheet): boolean {
  if (!isFolded(sheet.fold)) return true;
  if (sheet.fold === "outline" && entry.kind === "text") return false;
  return !["thinking", "start", "config", "system", "compaction"].includes(entry.kind);
}
