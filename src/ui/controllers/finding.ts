import { parseQuery, searchSessions } from "../../search/index.ts";
import { nextWanting } from "../../session/attention.ts";
import { digestText } from "../../session/digest.ts";
import { joinSessions } from "../../session/join.ts";
import type { SessionKey } from "../../session/key.ts";
import { byNewest, type Snapshot } from "../../session/snapshot.ts";
import { cleanLine, titleLine } from "../../session/untrusted.ts";
import type { Picker, PickerItem } from "../../store/view.ts";
import { eachEntry } from "../each-entry.ts";
import type { Screen } from "../screen.ts";
import { ageOf, money, tokens } from "../text/amounts.ts";
import { snooze } from "./arranging.ts";

/** More are no help: the words have to be better. */
const MOST_HITS = 500;

/** To the next session that wants the person: questions before failures before finished work. */
export function nextThatNeedsMe(screen: Screen): void {
  const { selected, focus } = screen.view;
  const next = nextWanting(screen.attention().inbox, selected);
  if (!next) {
    screen.say("no session needs you", "good");
    return;
  }
  screen.select(next.key);
  if (focus === "detail") screen.openSession(next.key);
}

/** Everything that wants the person, with what is asked in full. */
export function openInbox(screen: Screen): void {
  const { inbox, snoozed } = screen.attention();
  const items = inbox.map((one) => itemOf(screen, one));
  const asleep = snoozed.length > 0 ? ` · ${snoozed.length} snoozed` : "";
  screen.overlay({
    type: "picker",
    title: `inbox${asleep}`,
    items,
    typing: false,
    busy: false,
    empty: "Nobody needs you. Finished work that you have not seen appears here too.",
  });
}

function itemOf(screen: Screen, one: Snapshot): PickerItem {
  return {
    label: cleanLine(screen.context.memory.get("name", one.key) ?? one.title),
    note: ageOf(one.updatedAt, screen.store.getState().clock),
    detail: one.activity ?? one.why[0] ?? "",
    status: one.status,
    run: () => screen.openSession(one.key),
    aside: { title: "snooze", run: () => snooze(screen, one.key) },
  };
}

/** Tokens and cost of all sessions together. */
export function openTotals(screen: Screen): void {
  screen.openTotals();
}

/** What happened while the person looked elsewhere. */
export function openDigest(screen: Screen): void {
  const amounts = { tokens, cost: money };
  const items = screen.absence.changes.map(
    (line): PickerItem => ({
      label: cleanLine(screen.context.memory.get("name", line.key) ?? line.title),
      detail: digestText(line, amounts, { ascii: screen.ascii }),
      ...(line.to === null ? {} : { status: line.to }),
      run: () => screen.openSession(line.key),
    }),
  );
  const empty = "Nothing happened since this screen last lost the focus, or the terminal does not tell.";
  screen.overlay({ type: "picker", title: "while you were away", items, typing: false, busy: false, empty });
}

/** Full text over every session: asks what for. */
export function askSearchAll(screen: Screen): void {
  screen.overlay({
    type: "ask",
    title: "search the text of all sessions, tool output too",
    label: "//",
    initial: "",
    verb: "search",
    done: (text) => searchAll(screen, text),
  });
}

/** Hits appear as they come, newest sessions first; Enter goes to the entry. Leaving the list stops the search. */
function searchAll(screen: Screen, text: string): void {
  const query = parseQuery(text);
  const stop = new AbortController();
  const title = `search · ${cleanLine(text)}`;
  const empty = "Nothing holds this text. Fewer or other words find more; ctrl+g asks again.";
  const picker = startPicker(screen, title, empty, query.needles);
  screen.attempt(async () => {
    const sessions = [...joinSessions(screen.store.getState().sessions).sessions.values()].sort(byNewest);
    const reader = (key: SessionKey) => screen.context.live.reader(key);
    const hits = searchSessions({
      sessions,
      reader,
      query,
      limit: MOST_HITS,
      perSession: 20,
      signal: stop.signal,
      env: screen.context.env,
    });
    for await (const found of hits) {
      if (found.type === "progress") {
        if (!picker.alive()) stop.abort();
        continue;
      }
      const snapshot = screen.snapshot(found.key);
      picker.add({
        label: cleanLine(screen.context.memory.get("name", found.key) ?? snapshot?.title ?? found.key),
        note: `${found.kind} ${ageOf(found.time, screen.store.getState().clock)}`,
        detail: found.snippet,
        run: () => {
          screen.openSession(found.key);
          screen.openTarget({ view: found.view, ref: found.ref, ...(found.of === null ? {} : { of: found.of }) });
        },
      });
      if (!picker.alive()) stop.abort();
    }
    picker.done();
  });
}

/** The prompts of the open transcript, to jump to. */
export function openContents(screen: Screen): void {
  const { open } = screen.view;
  if (!open) return;
  const title = "contents: what the person wrote";
  const picker = startPicker(screen, title, "Nothing was asked here yet.");
  screen.attempt(async () => {
    const transcript = await screen.context.live.reader(open.key).transcript(open.key);
    try {
      for await (const entry of eachEntry(transcript, open)) {
        if (entry.kind !== "message" || entry.injected) continue;
        const label = titleLine(entry.text ?? entry.media?.type ?? "") || "(empty)";
        const note = ageOf(entry.time, screen.store.getState().clock);
        const more = picker.add({
          label,
          note,
          run: () => screen.set({ focus: "detail", open: { ...open, ref: entry.ref } }),
        });
        if (!more) return;
      }
      picker.done();
    } finally {
      transcript.close();
    }
  });
}

/** An overlay that fills while something looks; `add` is false once the person has left it. */
function startPicker(
  screen: Screen,
  title: string,
  empty: string,
  marks: readonly string[] = [],
): { add(item: PickerItem): boolean; alive(): boolean; done(): void } {
  let items: PickerItem[] = [];
  let shown: Picker = { type: "picker", title, items, typing: true, busy: true, empty, marks };
  let last = 0;
  const put = (busy: boolean): boolean => {
    if (screen.view.overlay !== shown) return false;
    shown = { ...shown, items, busy };
    screen.overlay(shown);
    return true;
  };
  screen.overlay(shown);
  return {
    add: (item) => {
      items = [...items, item];
      // A burst of finds is one drawing.
      if (performance.now() - last < 100) return screen.view.overlay === shown;
      last = performance.now();
      return put(true);
    },
    alive: () => screen.view.overlay === shown,
    done: () => void put(false),
  };
}

export function showWhy(screen: Screen): void {
  const session = screen.session();
  if (session) screen.overlay({ type: "why", key: session.key });
}
