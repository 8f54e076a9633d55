import type { Entry } from "../session/entry.ts";
import type { Snapshot } from "../session/snapshot.ts";
import { cleanLine } from "../session/untrusted.ts";
import { type EntryPart, entryPart } from "./entry-parts.ts";
import { sessionFacts } from "./facts.ts";
import { fenced } from "./fence.ts";
import { embeddedMarkdown } from "./markdown-text.ts";

/** A session as Markdown: words as they are, calls and results in fences, what is long and aside folded away. */
export async function* markdownChunks(
  snapshot: Snapshot,
  entries: AsyncIterable<Entry> | Iterable<Entry>,
): AsyncGenerator<string, void, void> {
  yield `# ${escaped(cleanLine(snapshot.title))}\n\n`;
  for (const [label, value] of sessionFacts(snapshot)) yield `- ${label}: ${escaped(value)}\n`;
  for await (const entry of entries) {
    const part = entryPart(entry);
    if (part !== null) yield `\n${layout(part, entry.time)}\n`;
  }
}

function layout(part: EntryPart, time: string | null): string {
  const title = `${escaped(part.title)}${time === null ? "" : ` · ${escaped(cleanLine(time))}`}`;
  switch (part.shape) {
    case "words":
      return `## ${title}\n\n${embeddedMarkdown(part.text)}`;
    case "folded-words":
      return details(title, embeddedMarkdown(part.text));
    case "folded-code":
      return details(title, fenced(part.text, part.language));
    case "code":
      return part.text === "" ? `**${title}**` : `**${title}**\n\n${fenced(part.text, part.language)}`;
    case "note":
      return `*${title}*`;
  }
}

function details(summary: string, body: string): string {
  return `<details>\n<summary>${summary}</summary>\n\n${body}\n\n</details>`;
}

/** One line in which nothing is markup: neither Markdown's nor HTML's, as it stands in both. */
function escaped(line: string): string {
  return line
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/[\\`*_{}[\]#|~$!]/gu, (mark) => `&#${mark.charCodeAt(0)};`);
}
