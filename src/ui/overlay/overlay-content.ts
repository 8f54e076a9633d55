import { STATUS_NAMES, STATUSES } from "../../session/status.ts";
import { cleanLine } from "../../session/untrusted.ts";
import type { Overlay, Picker, PickerItem } from "../../store/view.ts";
import type { KeyCommand } from "../keymap.ts";
import { keyLabel } from "../keys.ts";
import { aroundCursor, type EditedLine } from "../line-editor.ts";
import type { Screen } from "../screen.ts";
import { type Line, lineWidth, span, spread } from "../text/line.ts";
import { padEnd, textWidth } from "../text/width.ts";
import { wrapSpans } from "../text/wrap.ts";
import { toned } from "../toned.ts";

/** What a list-like overlay can hold: a line, and whether it can be chosen. */
export interface OverlayContent {
  title: string;
  lines: Line[];
  /** Which line must be in sight, 0-based. */
  chosenAt?: number;
}

/** Text that was typed into the filter, the search, the palette or a form. */
export interface Typed {
  line: EditedLine;
  /** Chosen item, 0-based. */
  chosen: number;
}

/** The lines of an overlay. Pure: what it shows is what the state says. */
export function overlayContent(
  overlay: Overlay,
  screen: Screen,
  keymap: readonly KeyCommand[],
  typed: Typed,
  width: number,
): OverlayContent {
  switch (overlay.type) {
    case "help":
      return { title: `keys: ${screen.place()}`, lines: helpLines(keymap, screen, width) };
    case "why":
      return whyContent(overlay.key, screen, width);
    case "problems":
      return { title: "problems", lines: problemLines(screen, width) };
    case "filter":
      return {
        title: "filter",
        lines: [inputLine("/", typed.line), hintLine("words · agent: status: project: model: since:2d", width)],
      };
    case "search":
      return {
        title: "search",
        lines: [inputLine("/", typed.line), hintLine("Enter finds the next; n and N go on", width)],
      };
    case "palette": {
      const items = paletteItems(keymap, screen, typed.line.text);
      const lines = items.map((item, at) =>
        itemLine(item.help, keyLabel(item.keys[0] ?? ""), at === typed.chosen, width),
      );
      return { title: "commands", lines: [inputLine(":", typed.line), ...lines] };
    }
    case "menu": {
      const lines = overlay.items.map((item, at) =>
        itemLine(`${at + 1} ${item.label}`, item.note ?? "", at === typed.chosen, width),
      );
      return { title: overlay.title, lines };
    }
    case "picker":
      return pickerContent(overlay, typed, width);
    case "ask":
      return {
        title: overlay.title,
        lines: [inputLine(overlay.label, typed.line), hintLine("Enter keeps it · Esc leaves it", width)],
      };
    case "confirm": {
      const { question } = overlay;
      const lines = question.says.flatMap((text) => wrapped(text, width, "text"));
      if (question.warning !== null) lines.push(...wrapped(question.warning, width, "warn"));
      lines.push([], [span(" y ", "accent"), span(`${question.verb}   `), span("n Esc ", "accent"), span("leave it")]);
      return { title: question.title, lines };
    }
    case "form": {
      const { action, field } = overlay;
      const lines = action.inputs.flatMap((input, at): Line[] => {
        const value = overlay.values[input.name] ?? "";
        const label = span(` ${padEnd(input.label, 14)} `, at === field ? "accent" : "label");
        const shown: Line = at === field ? [label, ...cursorSpans(typed.line)] : [label, span(cleanLine(value))];
        const wrong = at === field ? (input.check?.(typed.line.text) ?? null) : null;
        const choices = at === field && input.choices ? [hintLine(`one of: ${input.choices.join(", ")}`, width)] : [];
        return [shown, ...choices, ...(wrong === null ? [] : wrapped(wrong, width, "bad"))];
      });
      return { title: action.title, lines: [...lines, [], hintLine("Enter next · Esc leave it", width)] };
    }
  }
}

/** The items that fit what was typed. */
export function pickerItems(picker: Picker, text: string): readonly PickerItem[] {
  if (!picker.typing || text === "") return picker.items;
  const words = text.toLowerCase().split(/\s+/u);
  return picker.items.filter((item) =>
    words.every((word) => `${item.label} ${item.detail ?? ""}`.toLowerCase().includes(word)),
  );
}

function pickerContent(picker: Picker, typed: Typed, width: number): OverlayContent {
  const items = pickerItems(picker, typed.line.text);
  const lines: Line[] = picker.typing ? [inputLine("", typed.line)] : [];
  let chosenAt = 0;
  items.forEach((item, at) => {
    const chosen = at === typed.chosen;
    if (chosen) chosenAt = lines.length;
    lines.push(pickerLine(item, chosen, width));
    if (item.detail)
      lines.push(
        ...wrapSpans([span(cleanLine(item.detail), "faint")], width, { first: [span("     ")], rest: [span("     ")] }),
      );
  });
  if (items.length === 0) lines.push(hintLine(picker.busy ? "looking …" : picker.empty, width));
  else if (picker.busy) lines.push(hintLine("looking for more …", width));
  return { title: picker.title, lines, chosenAt };
}

function pickerLine(item: PickerItem, chosen: boolean, width: number): Line {
  const mark: Line = [span(chosen ? " ❯ " : "   ", "accent")];
  if (item.status) {
    const row = STATUSES[item.status];
    mark.push(toned(`${row.glyph} `, item.status));
  }
  return spread(
    [...mark, span(item.label, chosen ? "strong" : "text")],
    [span(cleanLine(item.note ?? ""), "faint")],
    width,
  );
}

/** The commands that fit what was typed, those of this place first. */
export function paletteItems(keymap: readonly KeyCommand[], screen: Screen, text: string): KeyCommand[] {
  const words = text
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== "");
  const place = screen.place();
  return keymap
    .filter((command) => command.where.includes(place) && (command.disabled?.(screen) ?? null) === null)
    .filter((command) =>
      words.every((word) => `${command.help} ${command.title} ${command.id}`.toLowerCase().includes(word)),
    );
}

function helpLines(keymap: readonly KeyCommand[], screen: Screen, width: number): Line[] {
  const place = screen.place();
  const rows = keymap.filter((command) => command.where.includes(place));
  const labels = rows.map((command) => command.keys.map(keyLabel).join(" "));
  const widest = Math.min(16, Math.max(...labels.map(textWidth)));
  const lines = rows.flatMap((command, at) => {
    const margin: Line = [span(` ${padEnd(labels[at] ?? "", widest)} `, "accent")];
    const why = command.disabled?.(screen) ?? null;
    const text = why === null ? command.help : `${command.help} (not now: ${why})`;
    return wrapSpans([span(text, why === null ? "text" : "faint")], width, {
      first: margin,
      rest: [span(" ".repeat(widest + 2))],
    });
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

function whyContent(key: string, screen: Screen, width: number): OverlayContent {
  const snapshot = screen.snapshot(key);
  if (!snapshot) return { title: "why", lines: [[span(" the session is gone", "faint")]] };
  const sure = snapshot.certainty === "guess" ? "a guess" : "recorded by the tool";
  const lines: Line[] = [
    [toned(` ${snapshot.status}`, snapshot.status), span(`  ${sure}`, "faint")],
    ...(snapshot.native === null ? [] : wrapped(`the tool's own word: ${snapshot.native}`, width, "faint")),
    ...snapshot.why.flatMap((reason) => wrapped(`• ${reason}`, width, "text")),
    ...wrapped(STATUSES[snapshot.status].meaning, width, "faint"),
    ...snapshot.damage.flatMap((one) =>
      wrapped(`damage: ${one.kind}${one.bytes === null ? "" : `, ${one.bytes} bytes`}`, width, "warn"),
    ),
  ];
  return { title: "why this status", lines };
}

function problemLines(screen: Screen, width: number): Line[] {
  const { problems, troubles, conflicts } = screen.store.getState();
  const lines = troubles.flatMap((trouble) => wrapped(trouble.message, width, "warn"));
  for (const conflict of conflicts) lines.push(...wrapped(conflict.says, width, "warn"));
  for (const list of problems.values()) {
    for (const problem of list) lines.push(...wrapped(`${problem.source}: ${problem.message}`, width, "text"));
  }
  return lines.length > 0 ? lines : [[span(" Nothing is wrong: everything was read.", "good")]];
}

function wrapped(text: string, width: number, style: "text" | "warn" | "bad" | "faint"): Line[] {
  return wrapSpans([span(cleanLine(text), style)], width, { first: [span(" ")], rest: [span("   ")] });
}

function hintLine(text: string, width: number): Line {
  return wrapSpans([span(` ${text}`, "faint")], width)[0] ?? [];
}

function inputLine(sign: string, line: EditedLine): Line {
  return [span(` ${sign}`, "accent"), ...cursorSpans(line)];
}

function cursorSpans(line: EditedLine): Line {
  const [before, under, after] = aroundCursor(line);
  return [span(before), { ...span(under), inverse: true }, span(after)].filter((piece) => piece.text !== "");
}

function itemLine(label: string, note: string, chosen: boolean, width: number): Line {
  const left: Line = [span(chosen ? " ❯ " : "   ", "accent"), span(label, chosen ? "strong" : "text")];
  const room = width - lineWidth(left) - 2;
  const shown = cleanLine(note);
  return room < 6 || shown === "" ? left : [...left, span("  "), span(shown, "faint")];
}
