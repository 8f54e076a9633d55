import type { Entry } from "../../src/session/entry.ts";
import type { PageRequest, Transcript } from "../../src/sources/source.ts";

type View = Pick<PageRequest, "view" | "of" | "textLimit">;

/** All entries of a view, page by page from its start. */
export async function readForward(transcript: Transcript, view: View, limit: number): Promise<Entry[]> {
  const all: Entry[] = [];
  let page = await transcript.page({ ...view, at: { edge: "start" }, limit });
  for (let pages = 0; pages < 10_000; pages += 1) {
    if (page.entries.length > limit) throw new Error(`a page of ${page.entries.length} where ${limit} were asked for`);
    all.push(...page.entries);
    if (page.atEnd) return all;
    page = await transcript.page({ ...view, at: { after: page.after }, limit });
  }
  throw new Error("the view has no end");
}

/** All entries of a view, page by page from its end. */
export async function readBackward(transcript: Transcript, view: View, limit: number): Promise<Entry[]> {
  const all: Entry[] = [];
  let page = await transcript.page({ ...view, at: { edge: "end" }, limit });
  for (let pages = 0; pages < 10_000; pages += 1) {
    if (page.entries.length > limit) throw new Error(`a page of ${page.entries.length} where ${limit} were asked for`);
    all.unshift(...page.entries);
    if (page.atStart) return all;
    page = await transcript.page({ ...view, at: { before: page.before }, limit });
  }
  throw new Error("the view has no start");
}
