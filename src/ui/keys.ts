import type { Key } from "ink";

const SEGMENTS = new Intl.Segmenter("en", { granularity: "grapheme" });

/**
 * The names of the keys in one call of Ink's input hook, in order: `j`, `G`, `ctrl+d`, `enter`, `up` … A burst arrives as one
 * call ("jjj"), so it is taken apart.
 */
export function keyNames(input: string, key: Key): string[] {
  const named = special(key);
  if (named !== null) return [named];
  if (key.ctrl) return input === "" ? [] : [`ctrl+${input.toLowerCase()}`];
  const names: string[] = [];
  for (const { segment } of SEGMENTS.segment(input)) {
    const name = CONTROL[segment] ?? controlKey(segment) ?? segment;
    if (name !== "") names.push(key.meta ? `alt+${name}` : name);
  }
  return names;
}

/** `ctrl+u` for its control character, nothing for one that no key is bound to; null: it is no control character. */
function controlKey(segment: string): string | null {
  if (!/^\p{Cc}/u.test(segment)) return null;
  const code = segment.charCodeAt(0);
  return code >= 1 && code <= 26 ? `ctrl+${String.fromCharCode(code + 96)}` : "";
}

/** Control characters inside a burst, which Ink has not named, that have a key of their own. */
const CONTROL: Record<string, string> = {
  "\r": "enter",
  "\n": "enter",
  "\r\n": "enter",
  "\t": "tab",
  "\u001b": "esc",
  "\u007f": "backspace",
  "\b": "backspace",
  " ": "space",
};

function special(key: Key): string | null {
  if (key.upArrow) return "up";
  if (key.downArrow) return "down";
  if (key.leftArrow) return "left";
  if (key.rightArrow) return "right";
  if (key.pageUp) return "pageup";
  if (key.pageDown) return "pagedown";
  if (key.home) return "home";
  if (key.end) return "end";
  if (key.return) return "enter";
  if (key.escape) return "esc";
  if (key.tab) return key.shift ? "shift+tab" : "tab";
  if (key.backspace || key.delete) return "backspace";
  return null;
}

const ARROWS: Record<string, string> = { up: "Up", down: "Down", left: "Left", right: "Right" };

/** How a key is shown to a person; in ASCII arrows are words. */
export function keyLabel(name: string, ascii = false): string {
  const arrow = ARROWS[name];
  if (ascii && arrow !== undefined) return arrow;
  const labels: Record<string, string> = {
    up: "↑",
    down: "↓",
    left: "←",
    right: "→",
    enter: "Enter",
    esc: "Esc",
    tab: "Tab",
    "shift+tab": "S-Tab",
    space: "Space",
    pageup: "PgUp",
    pagedown: "PgDn",
    home: "Home",
    end: "End",
    backspace: "Bksp",
  };
  return labels[name] ?? name.replace(/^ctrl\+/u, "^").replace(/^alt\+/u, "M-");
}
