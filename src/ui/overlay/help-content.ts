import { STATUS_NAMES, STATUSES } from "../../session/status.ts";
import type { KeyCommand } from "../keymap.ts";
import { keyLabel } from "../keys.ts";
import type { Screen } from "../screen.ts";
import { type Line, lineWidth, padLine, span } from "../text/line.ts";
import { padEnd, textWidth } from "../text/width.ts";
import { wrapSpans } from "../text/wrap.ts";
import { toned } from "../toned.ts";

/** From here on the names of the actions stand beside them, for the config file's `keys`. */
const NAMES_FROM = 60;

/** The keys of the place one is in, made from the one table, and what each status means. */
export function helpLines(keymap: readonly KeyCommand[], screen: Screen, width: number): Line[] {
  const place = screen.place();
  const rows = keymap.filter((command) => command.where.includes(place));
  const labels = rows.map((command) => command.keys.map((key) => keyLabel(key, screen.ascii)).join(" "));
  const widest = Math.min(16, Math.max(...labels.map(textWidth)));
  const lines = rows.flatMap((command, at) => {
    const margin: Line = [span(` ${padEnd(labels[at] ?? "", widest)} `, "accent")];
    const why = command.disabled?.(screen) ?? null;
    const text = why === null ? command.help : `${command.help} (not now: ${why})`;
    const name = width >= NAMES_FROM ? command.id : "";
    const wrapped = wrapSpans([span(text, why === null ? "text" : "faint")], width, {
      first: margin,
      rest: [span(" ".repeat(widest + 2))],
      reserve: name === "" ? 0 : name.length + 2,
    });
    return name === "" ? wrapped : [named(wrapped[0] ?? [], name, width), ...wrapped.slice(1)];
  });
  const legend = STATUS_NAMES.flatMap((name) => {
    const row = STATUSES[name];
    return wrapSpans([span(row.meaning, "faint")], width, {
      first: [toned(` ${screen.ascii ? row.ascii : row.glyph} ${padEnd(name, 12)} `, name)],
      rest: [span(" ".repeat(16))],
    });
  });
  return [...lines, [], [span(" statuses", "heading")], ...legend];
}

function named(line: Line, name: string, width: number): Line {
  return lineWidth(line) + name.length + 2 > width
    ? line
    : [...padLine(line, width - name.length - 1), span(name, "faint"), span(" ")];
}
