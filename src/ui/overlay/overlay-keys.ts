import type { Overlay, Picker } from "../../store/view.ts";
import { askSearchAll } from "../controllers/finding.ts";
import { confirmAction } from "../controllers/source-actions.ts";
import type { KeyCommand } from "../keymap.ts";
import { type EditedLine, editedLine, editLine, pasteInto } from "../line-editor.ts";
import type { Screen } from "../screen.ts";
import { paletteItems, type Typed } from "./overlay-content.ts";
import { pickerItems } from "./picker-content.ts";

/** What a key does while an overlay owns the keyboard. Returns what is typed and chosen afterwards. */
export function overlayKey(
  overlay: Overlay,
  key: string,
  screen: Screen,
  keymap: readonly KeyCommand[],
  typed: Typed,
): Typed {
  if (key === "ctrl+c") {
    screen.overlay(null);
    return typed;
  }
  switch (overlay.type) {
    case "help":
    case "why":
    case "problems":
      return readingKey(key, screen, typed);
    case "filter":
    case "search":
      return inputKey(overlay, key, screen, typed);
    case "palette":
    case "menu":
      return choosingKey(overlay, key, screen, keymap, typed);
    case "picker":
      return pickerKey(overlay, key, screen, typed);
    case "ask":
      if (key === "enter" || key === "esc") {
        screen.overlay(null);
        if (key === "enter") overlay.done(typed.line.text);
        return typed;
      }
      return edited(overlay, key, screen, typed);
    case "confirm":
      if (key === "y" || key === "enter") {
        screen.overlay(null);
        overlay.question.run();
      } else if (key === "n" || key === "esc" || key === "q") {
        screen.overlay(null);
        screen.say("left as it is");
      }
      return typed;
    case "form":
      return formKey(overlay, key, screen, typed);
  }
}

/** What a pasted text does: it is typed where a line is being typed. Null: nothing is typed here, and it is no key. */
export function overlayPaste(overlay: Overlay, pasted: string, screen: Screen, typed: Typed): Typed | null {
  return isTyping(overlay) ? changed(overlay, pasteInto(typed.line, pasted), screen) : null;
}

function isTyping(overlay: Overlay): boolean {
  switch (overlay.type) {
    case "filter":
    case "search":
    case "ask":
    case "form":
    case "palette":
      return true;
    case "picker":
      return overlay.typing;
    default:
      return false;
  }
}

function edited(overlay: Overlay, key: string, screen: Screen, typed: Typed): Typed {
  const line = editLine(typed.line, key);
  return line === null ? typed : changed(overlay, line, screen);
}

/** Another line is typed: what is chosen from begins anew, and the list is filtered at once. */
function changed(overlay: Overlay, line: EditedLine, screen: Screen): Typed {
  if (overlay.type === "filter") screen.filter(line.text);
  return { line, chosen: 0 };
}

function readingKey(key: string, screen: Screen, typed: Typed): Typed {
  const steps: Record<string, number> = {
    j: 1,
    down: 1,
    k: -1,
    up: -1,
    "ctrl+d": 8,
    pagedown: 8,
    space: 8,
    "ctrl+u": -8,
    pageup: -8,
  };
  const step = steps[key];
  if (step !== undefined) return { ...typed, chosen: Math.max(0, typed.chosen + step) };
  if (key === "g") return { ...typed, chosen: 0 };
  screen.overlay(null);
  return typed;
}

function inputKey(overlay: Overlay & { type: "filter" | "search" }, key: string, screen: Screen, typed: Typed): Typed {
  if (key === "enter" || key === "esc") {
    screen.overlay(null);
    if (overlay.type === "search") {
      if (key === "enter") screen.pane()?.search(typed.line.text);
    } else if (key === "esc") screen.set({ filter: "" });
    return typed;
  }
  if (overlay.type === "filter" && (key === "down" || key === "up")) {
    screen.moveSelection(key === "down" ? 1 : -1);
    return typed;
  }
  if (overlay.type === "filter" && key === "/" && typed.line.text === "") {
    askSearchAll(screen);
    return typed;
  }
  return edited(overlay, key, screen, typed);
}

function choosingKey(
  overlay: Overlay & { type: "palette" | "menu" },
  key: string,
  screen: Screen,
  keymap: readonly KeyCommand[],
  typed: Typed,
): Typed {
  const runs =
    overlay.type === "menu"
      ? overlay.items.map((item) => item.run)
      : paletteItems(keymap, screen, typed.line.text).map((command) => () => command.run(screen));
  const choose = (at: number): Typed => {
    screen.overlay(null);
    runs[at]?.();
    return typed;
  };
  const move = (by: number): Typed => ({
    ...typed,
    chosen: Math.min(Math.max(0, typed.chosen + by), Math.max(0, runs.length - 1)),
  });
  if (key === "esc") {
    screen.overlay(null);
    return typed;
  }
  if (key === "enter") return choose(typed.chosen);
  if (key === "down" || key === "ctrl+n") return move(1);
  if (key === "up" || key === "ctrl+p") return move(-1);
  if (overlay.type === "menu") {
    if (key === "j") return move(1);
    if (key === "k") return move(-1);
    if (/^[1-9]$/u.test(key) && Number(key) <= runs.length) return choose(Number(key) - 1);
    return typed;
  }
  return edited(overlay, key, screen, typed);
}

function pickerKey(picker: Picker, key: string, screen: Screen, typed: Typed): Typed {
  const items = pickerItems(picker, typed.line.text);
  const move = (by: number): Typed => ({
    ...typed,
    chosen: Math.min(Math.max(0, typed.chosen + by), Math.max(0, items.length - 1)),
  });
  const chosen = items[typed.chosen];
  switch (key) {
    case "esc":
      screen.overlay(null);
      return typed;
    case "enter":
      screen.overlay(null);
      chosen?.run();
      return typed;
    case "down":
    case "ctrl+n":
      return move(1);
    case "up":
    case "ctrl+p":
      return move(-1);
    case "pagedown":
    case "ctrl+d":
      return move(8);
    case "pageup":
    case "ctrl+u":
      return move(-8);
  }
  if (picker.typing) return edited(picker, key, screen, typed);
  if (key === "j") return move(1);
  if (key === "k") return move(-1);
  if (key === "q") screen.overlay(null);
  if (key === "x" && chosen?.aside) {
    chosen.aside.run();
    screen.overlay({ ...picker, items: picker.items.filter((item) => item !== chosen) });
    return move(0);
  }
  return typed;
}

function formKey(overlay: Overlay & { type: "form" }, key: string, screen: Screen, typed: Typed): Typed {
  const { action, field, target } = overlay;
  const input = action.inputs[field];
  if (key === "esc" || !input) {
    screen.overlay(null);
    return typed;
  }
  const values = { ...overlay.values, [input.name]: typed.line.text };
  const goTo = (next: number): Typed => {
    screen.overlay({ ...overlay, values, field: next });
    return { line: editedLine(values[action.inputs[next]?.name ?? ""] ?? ""), chosen: 0 };
  };
  if (key === "up" || key === "shift+tab") return field > 0 ? goTo(field - 1) : typed;
  if (key === "enter" || key === "tab" || key === "down") {
    const wrong = wrongWith(input, typed.line.text);
    if (wrong !== null) {
      screen.say(wrong, "bad");
      return typed;
    }
    if (field + 1 < action.inputs.length) return goTo(field + 1);
    if (key !== "enter") return typed;
    screen.overlay(null);
    confirmAction(screen, action, values, target);
    return typed;
  }
  return edited(overlay, key, screen, typed);
}

function wrongWith(input: { choices?: string[]; check?(value: string): string | null }, value: string): string | null {
  if (input.choices && !input.choices.includes(value)) return `one of: ${input.choices.join(", ")}`;
  return input.check?.(value) ?? null;
}
