import { STATUSES } from "../../session/status.ts";
import type { Overlay } from "../../store/view.ts";
import type { KeyCommand } from "../keymap.ts";
import { keyLabel } from "../keys.ts";
import type { EditedLine } from "../line-editor.ts";
import type { Screen } from "../screen.ts";
import { type Line, span } from "../text/line.ts";
import { printableLine } from "../text/printable.ts";
import { padEnd } from "../text/width.ts";
import { toned } from "../toned.ts";
import { helpLines } from "./help-content.ts";
import { cursorSpans, hintLines, inputLine, itemLine, wrapped } from "./overlay-lines.ts";
import { pickerContent } from "./picker-content.ts";

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

const FILTER_HINT = "words · agent: status: project: branch: model: source: tag: since:2d is:pinned";

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
        lines: [inputLine("/", typed.line, width), ...hintLines(FILTER_HINT, width)],
      };
    case "search":
      return {
        title: "search",
        lines: [inputLine("/", typed.line, width), ...hintLines("Enter finds the next; n and N go on", width)],
      };
    case "palette": {
      const items = paletteItems(keymap, screen, typed.line.text);
      const lines = items.map((item, at) =>
        itemLine(item.help, keyLabel(item.keys[0] ?? "", screen.ascii), at === typed.chosen, width),
      );
      const none = lines.length === 0 ? hintLines("No command is called that. Backspace shows more.", width) : [];
      return { title: "commands", lines: [inputLine(":", typed.line, width), ...lines, ...none] };
    }
    case "menu": {
      const lines = overlay.items.map((item, at) =>
        itemLine(`${at + 1} ${item.label}`, item.note ?? "", at === typed.chosen, width),
      );
      return { title: overlay.title, lines };
    }
    case "picker":
      return pickerContent(overlay, typed, width, screen.ascii);
    case "ask":
      return { title: overlay.title, lines: [inputLine(overlay.label, typed.line, width)] };
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
        const shown: Line =
          at === field ? [label, ...cursorSpans(typed.line, width - 16)] : [label, span(printableLine(value))];
        const wrong = at === field ? (input.check?.(typed.line.text) ?? null) : null;
        const choices = at === field && input.choices ? hintLines(`one of: ${input.choices.join(", ")}`, width) : [];
        return [shown, ...choices, ...(wrong === null ? [] : wrapped(wrong, width, "bad"))];
      });
      return { title: action.title, lines };
    }
  }
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
  return lines.length > 0 ? lines : wrapped("Nothing is wrong: everything was read.", width, "good");
}
