import { setImmediate, setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { blankEntry, type Entry } from "../../src/session/entry.ts";
import type { Page, PageRequest, Transcript } from "../../src/sources/source.ts";
import { TranscriptPane } from "../../src/ui/detail/transcript-pane.ts";
import { until } from "../support/until.ts";

const ENTRIES: Entry[] = Array.from({ length: 1000 }, (_, n) => ({
  ...blankEntry({ ref: `entry-${n}`, n: n + 1, kind: "message" }),
  text: `words ${n}`,
}));

/** Pages that come a turn later, as those of a file do. */
class SlowTranscript implements Transcript {
  requests = 0;

  async page({ at, limit }: PageRequest): Promise<Page> {
    this.requests += 1;
    await setImmediate();
    const [from, to] = range(at, limit);
    return {
      entries: ENTRIES.slice(from, to),
      before: String(from),
      after: String(to),
      atStart: from === 0,
      atEnd: to === ENTRIES.length,
      total: ENTRIES.length,
      nextUpto: null,
    };
  }

  close(): void {}
}

function range(at: PageRequest["at"], limit: number): [number, number] {
  const last = ENTRIES.length;
  if ("edge" in at) return at.edge === "start" ? [0, limit] : [last - limit, last];
  if ("before" in at) return [Math.max(0, Number(at.before) - limit), Number(at.before)];
  const from = "after" in at ? Number(at.after) : ENTRIES.findIndex((entry) => entry.ref === at.ref);
  return [from, Math.min(last, from + limit)];
}

async function opened(transcript: Transcript, ref: string | null = null, failed: (message: string) => void = () => {}) {
  const open = async (): Promise<Transcript> => transcript;
  const pane = new TranscriptPane({ open, view: "timeline", of: null, ref, ascii: false, clock: () => 0, failed });
  await until(() => pane.selected());
  pane.lay(80, 20);
  return pane;
}

/** Refs of the entries from the cursor on, or before it. */
async function refs(pane: TranscriptPane, direction: 1 | -1): Promise<string[]> {
  const found: string[] = [];
  await pane.seek(direction, (entry) => {
    found.push(entry.ref);
    return false;
  });
  return found;
}

/** Every entry once, in order, whatever is loaded now. */
async function expectWhole(pane: TranscriptPane): Promise<void> {
  const seen = [...(await refs(pane, -1)).reverse(), pane.selected()?.ref, ...(await refs(pane, 1))];
  expect(seen).toEqual(ENTRIES.map((entry) => entry.ref));
}

async function settled(transcript: SlowTranscript): Promise<void> {
  for (let before = 0; before !== transcript.requests; await setTimeout(10)) before = transcript.requests;
}

test("a burst of keys at the edge of what is loaded loads each page once", async () => {
  const transcript = new SlowTranscript();
  const pane = await opened(transcript);
  for (let n = 0; n < 60; n += 1) pane.page(-0.9);
  await settled(transcript);
  expect(transcript.requests).toBeLessThanOrEqual(ENTRIES.length / 200 + 1);
  await expectWhole(pane);
});

test("a session that grows while one pages and seeks repeats and loses nothing", async () => {
  const transcript = new SlowTranscript();
  const pane = await opened(transcript, "entry-500");
  for (let n = 0; n < 20; n += 1) {
    pane.page(n % 3 === 0 ? 0.9 : -0.9);
    pane.refresh();
    if (n % 5 === 0) void pane.seek(n % 2 === 0 ? 1 : -1, (entry) => entry.n % 333 === 0);
    if (n % 4 === 0) await setImmediate();
  }
  await settled(transcript);
  await expectWhole(pane);
});

test("a text that cannot be read whole is said, and the pane lives on", async () => {
  const said: string[] = [];
  class Cut extends SlowTranscript {
    override async page(request: PageRequest): Promise<Page> {
      if (request.limit === 1) throw new Error("the file is gone");
      const page = await super.page(request);
      return { ...page, entries: page.entries.map((entry) => ({ ...entry, clipped: 10 })) };
    }
  }
  const pane = await opened(new Cut(), null, (message) => said.push(message));
  for (let n = 0; n < 3; n += 1) pane.toggleFold();
  await until(() => said.length > 0);
  expect(said[0]).toBe("the whole text cannot be read: the file is gone");
  expect(pane.lay(80, 20).length).toBeGreaterThan(0);
});
