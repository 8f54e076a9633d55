import type { Entry } from "../session/entry.ts";
import type { SessionKey } from "../session/key.ts";
import type { Snapshot } from "../session/snapshot.ts";
import type { Page, PageRequest, SourceReader } from "../sources/source.ts";
import { htmlChunks } from "./html.ts";
import { jsonChunks } from "./json.ts";
import { markdownChunks } from "./markdown.ts";

export const EXPORT_FORMATS = ["md", "html", "json"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The format that a file's name asks for, null when it asks for none. */
export function formatOfName(path: string): ExportFormat | null {
  const ending = /\.([a-z]+)$/iu.exec(path)?.[1]?.toLowerCase();
  if (ending === "markdown") return "md";
  if (ending === "htm") return "html";
  return EXPORT_FORMATS.find((format) => format === ending) ?? null;
}

/** A session as text in pieces, as its entries come: none is held longer than it takes to write it. */
export function exportSession(
  snapshot: Snapshot,
  entries: AsyncIterable<Entry> | Iterable<Entry>,
  format: ExportFormat,
): AsyncIterable<string> {
  switch (format) {
    case "md":
      return markdownChunks(snapshot, entries);
    case "html":
      return htmlChunks(snapshot, entries);
    case "json":
      return jsonChunks(snapshot, entries);
  }
}

const PAGE = 256;
/** Transcripts keep what they have shown: after so much text, a new one is opened. UTF-16 units. */
const MOST_TEXT = 32 * 1024 * 1024;

/** The timeline of a session in file order, page by page. */
export async function* timelineEntries(reader: SourceReader, key: SessionKey): AsyncGenerator<Entry, void, void> {
  let transcript = await reader.transcript(key);
  let size = 0;
  try {
    let at: PageRequest["at"] = { edge: "start" };
    for (let page: Page | null = null; page === null || !page.atEnd; at = { after: page.after }) {
      page = await transcript.page({ view: "timeline", at, limit: PAGE });
      if (page.entries.length === 0) return;
      for (const entry of page.entries) {
        size += entry.text?.length ?? 0;
        yield entry;
      }
      if (size <= MOST_TEXT) continue;
      transcript.close();
      transcript = await reader.transcript(key);
      size = 0;
    }
  } finally {
    transcript.close();
  }
}
