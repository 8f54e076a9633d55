import type { Entry } from "../session/entry.ts";
import type { Page, Transcript } from "../sources/source.ts";
import type { OpenView } from "../store/view.ts";

/** Enough of a text to tell what it is about. */
const HEAD_BYTES = 400;

/** Every entry of a view from its beginning, page by page, with only the head of each text. */
export async function* eachEntry(transcript: Transcript, open: Pick<OpenView, "view" | "of">): AsyncGenerator<Entry> {
  const view = open.view === "context" || open.view === "branch" ? open.view : "timeline";
  let page: Page | null = null;
  do {
    page = await transcript.page({
      view,
      at: page === null ? { edge: "start" } : { after: page.after },
      limit: 500,
      textLimit: HEAD_BYTES,
      ...(open.of === null ? {} : { of: open.of }),
    });
    yield* page.entries;
  } while (!page.atEnd && page.entries.length > 0);
}
