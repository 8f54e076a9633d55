import { type Entry, publicEntry } from "../session/entry.ts";
import { publicSnapshot } from "../session/snapshot.ts";
import { jsonText } from "../session/untrusted.ts";
import type { Page, PageRequest, SourceReader, ViewName } from "../sources/source.ts";
import { layoutDocument } from "../ui/text/document.ts";
import { layoutEntry } from "../ui/text/entry.ts";
import { lineText } from "../ui/text/line.ts";
import { openSession, print, type SharedOptions } from "./context.ts";
import { WrongUsage } from "./wrong-usage.ts";

interface ShowOptions extends SharedOptions {
  context?: boolean;
  view?: string;
  of?: string;
}

/** `forktail show KEY [--context] [--view VIEW [--of NAME]] [--json]` (design §5). */
export async function show(options: ShowOptions, key: string): Promise<number> {
  const { place, snapshot, reader } = await openSession(options, key);
  const view = options.context ? "context" : (options.view ?? "timeline");
  const columns = Math.max(40, process.stdout.columns ?? 100);
  if (view === "timeline" || view === "context" || view === "branch") {
    const { entries, nextUpto } = await allEntries(reader, snapshot.key, view, options.of);
    if (options.json) {
      const shown = entries.map(publicEntry);
      const more = view === "context" ? { nextUpto } : {};
      await print(jsonText({ schema: 1, session: publicSnapshot(snapshot), entries: shown, ...more }, 2));
    } else {
      const opts = { width: columns, fold: "open", context: true, ascii: false, now: place.live.evidence.now } as const;
      await print(entries.flatMap((entry) => layoutEntry(entry, opts).map(lineText)).join("\n"));
    }
  } else {
    const offered = reader.views(snapshot.key);
    const name = offered.find((one) => one === view);
    if (!name) throw new WrongUsage(`--view ${view}: this session has ${offered.join(", ")}`);
    await showDocument(reader, snapshot.key, name, { ...options, columns });
  }
  await place.live.close();
  return 0;
}

async function showDocument(
  reader: SourceReader,
  key: string,
  view: ViewName,
  options: ShowOptions & { columns: number },
): Promise<void> {
  const document = await reader.document(key, view);
  if (options.json) await print(jsonText({ schema: 1, key, view, document }, 2));
  else await print(layoutDocument(document, options.columns, false).lines.map(lineText).join("\n"));
}

/** A whole view, page by page. */
export async function allEntries(
  reader: SourceReader,
  key: string,
  view: PageRequest["view"],
  of?: string,
): Promise<{ entries: Entry[]; nextUpto: number | null }> {
  const transcript = await reader.transcript(key);
  try {
    const entries: Entry[] = [];
    let page: Page | null = null;
    do {
      const at: PageRequest["at"] = page === null ? { edge: "start" } : { after: page.after };
      page = await transcript.page({ view, at, limit: 500, ...(of === undefined ? {} : { of }) });
      entries.push(...page.entries);
    } while (!page.atEnd && page.entries.length > 0);
    return { entries, nextUpto: page.nextUpto };
  } finally {
    transcript.close();
  }
}
