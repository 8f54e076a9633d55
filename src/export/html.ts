import { createHash } from "node:crypto";
import type { Entry } from "../session/entry.ts";
import type { Snapshot } from "../session/snapshot.ts";
import { cleanLine } from "../session/untrusted.ts";
import { type EntryPart, entryPart } from "./entry-parts.ts";
import { sessionFacts } from "./facts.ts";
import { STYLE } from "./style.ts";

/** Nothing but this one style may have any effect, should any text ever come through as markup. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** A session as one HTML file: no scripts, nothing from elsewhere, no links, all text escaped. */
export async function* htmlChunks(
  snapshot: Snapshot,
  entries: AsyncIterable<Entry> | Iterable<Entry>,
): AsyncGenerator<string, void, void> {
  const title = escaped(cleanLine(snapshot.title));
  const facts = sessionFacts(snapshot).map(([label, value]) => `<dt>${label}</dt><dd>${escaped(value)}</dd>`);
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<dl>${facts.join("")}</dl>
</header>
<main>
`;
  for await (const entry of entries) {
    const part = entryPart(entry);
    if (part !== null) yield layout(part, entry);
  }
  yield "</main>\n</body>\n</html>\n";
}

function layout(part: EntryPart, entry: Entry): string {
  const when = escaped(cleanLine(entry.time ?? ""));
  const time = when === "" ? "" : ` <time datetime="${when}">${when}</time>`;
  const title = `${escaped(part.title)}${time}`;
  const open = `class="${part.role}" id="e${entry.n}"`;
  // A browser drops one line break right after <pre>.
  const text = `<pre dir="auto">\n${escaped(part.text)}</pre>`;
  switch (part.shape) {
    case "words":
      return `<section ${open}>\n<h2>${title}</h2>\n${text}\n</section>\n`;
    case "note":
      return `<p ${open}>${title}</p>\n`;
    default:
      if (part.text === "") return `<p ${open}>${title}</p>\n`;
      return `<details ${open}>\n<summary>${title}</summary>\n${text}\n</details>\n`;
  }
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escaped(text: string): string {
  return text.replace(/[&<>"']/gu, (mark) => ESCAPES[mark] ?? mark);
}
