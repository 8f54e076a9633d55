import { basename } from "node:path";

const MOST_BYTES = 60;

/** The first line, without leading `UPPER_CASE=value` words (they may hold secrets), cut at 60 bytes (questmaster.md §7). */
export function snippet(text: string): string {
  const end = text.indexOf("\n");
  return cutBytes(withoutAssignments(end < 0 ? text : text.slice(0, end)));
}

/** The base name of a path, cut at 60 bytes. */
export function pathSnippet(path: string): string {
  return path === "" ? "" : cutBytes(basename(path));
}

/** The last lines an agent put out: trimmed, without empty ones, at most 40. */
export function recentLines(lines: readonly unknown[]): string[] {
  const clean = lines.flatMap((line) => (typeof line === "string" && line.trim() !== "" ? [line.trim()] : []));
  return clean.slice(-40);
}

function withoutAssignments(text: string): string {
  let rest = text;
  for (;;) {
    rest = rest.replace(/^[ \t]+/u, "");
    const found = /^[A-Z0-9_]+=[^ \t]*/u.exec(rest);
    if (!found) return rest;
    if (found[0].length === rest.length) return "";
    rest = rest.slice(found[0].length + 1);
  }
}

/** Cuts at a byte, as Go slices do: each byte of a character that is cut through becomes one U+FFFD. */
function cutBytes(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MOST_BYTES) return text;
  let end = MOST_BYTES;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end) + "\ufffd".repeat(MOST_BYTES - end);
}
