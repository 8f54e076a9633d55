/** A line being typed: plain data and one pure function, as readline users know it. */
export interface EditedLine {
  text: string;
  /** Position in graphemes. */
  cursor: number;
}

const SEGMENTS = new Intl.Segmenter("en", { granularity: "grapheme" });

export function editedLine(text = ""): EditedLine {
  return { text, cursor: graphemes(text).length };
}

/** The line after a key, or null when the key is none of editing's. */
export function editLine(line: EditedLine, key: string): EditedLine | null {
  const parts = graphemes(line.text);
  const at = Math.min(line.cursor, parts.length);
  const made = (kept: string[], cursor: number): EditedLine => ({ text: kept.join(""), cursor });
  switch (key) {
    case "left":
    case "ctrl+b":
      return { ...line, cursor: Math.max(0, at - 1) };
    case "right":
    case "ctrl+f":
      return { ...line, cursor: Math.min(parts.length, at + 1) };
    case "home":
    case "ctrl+a":
      return { ...line, cursor: 0 };
    case "end":
    case "ctrl+e":
      return { ...line, cursor: parts.length };
    case "backspace":
    case "ctrl+h":
      return at === 0 ? line : made([...parts.slice(0, at - 1), ...parts.slice(at)], at - 1);
    case "ctrl+d":
      return made([...parts.slice(0, at), ...parts.slice(at + 1)], at);
    case "ctrl+u":
      return made(parts.slice(at), 0);
    case "ctrl+k":
      return made(parts.slice(0, at), at);
    case "ctrl+w": {
      const before = parts
        .slice(0, at)
        .join("")
        .replace(/\S+\s*$/u, "");
      const kept = graphemes(before);
      return made([...kept, ...parts.slice(at)], kept.length);
    }
    case "space":
      return made([...parts.slice(0, at), " ", ...parts.slice(at)], at + 1);
  }
  if (/^(ctrl|alt|shift)\+./u.test(key) || NAMED.has(key)) return null;
  return made([...parts.slice(0, at), key, ...parts.slice(at)], at + 1);
}

/** The line after a text was pasted into it; line breaks and tabs in it become spaces, other control characters nothing. */
export function pasteInto(line: EditedLine, pasted: string): EditedLine {
  const text = pasted
    .replace(/[\r\n]+$/u, "")
    .replaceAll(/[\r\n\t]+/gu, " ")
    .replaceAll(/\p{Cc}/gu, "");
  const parts = graphemes(line.text);
  const at = Math.min(line.cursor, parts.length);
  const before = parts.slice(0, at).join("") + text;
  return { text: before + parts.slice(at).join(""), cursor: graphemes(before).length };
}

const NAMED = new Set(["up", "down", "enter", "esc", "tab", "pageup", "pagedown"]);

/** The text before, under and after the cursor, for drawing it. */
export function aroundCursor(line: EditedLine): [string, string, string] {
  const parts = graphemes(line.text);
  const at = Math.min(line.cursor, parts.length);
  return [parts.slice(0, at).join(""), parts[at] ?? " ", parts.slice(at + 1).join("")];
}

/** The same in at most `room` columns as `widthOf` counts them: what is too long loses its beginning, never its cursor. */
export function aroundCursorIn(
  line: EditedLine,
  room: number,
  widthOf: (text: string) => number,
): [string, string, string] {
  const [before, under, after] = aroundCursor(line);
  const free = room - widthOf(under);
  if (widthOf(before) <= free) return [before, under, after];
  const parts = graphemes(before);
  let at = parts.length;
  for (let used = 1; at > 0; at -= 1) {
    used += widthOf(parts[at - 1] ?? "");
    if (used > free) break;
  }
  return [`…${parts.slice(at).join("")}`, under, after];
}

function graphemes(text: string): string[] {
  return Array.from(SEGMENTS.segment(text), (part) => part.segment);
}
