import { joinSessions } from "../../session/join.ts";
import type { SessionKey } from "../../session/key.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { cleanLine, titleLine } from "../../session/untrusted.ts";
import type { Picker, PickerItem } from "../../store/view.ts";
import { eachEntry } from "../each-entry.ts";
import type { Screen } from "../screen.ts";
import { ageOf } from "../text/amounts.ts";
import { snooze, snoozedUntil } from "./arranging.ts";

/** To the next session that needs the person, the one that has waited longest first. */
export function nextThatNeedsMe(screen: Screen): void {
  const { view } = screen.store.getState();
  const waiting = screen
    .rows()
    .keys.flatMap((key) => screen.snapshot(key) ?? [])
    .filter((one) => one.status === "needs-input" || one.status === "failed")
    .sort((a, b) => rank(a) - rank(b) || (a.updatedAt ?? "").localeCompare(b.updatedAt ?? ""));
  if (waiting.length === 0) {
    screen.say("no session needs you", "good");
    return;
  }
  const at = waiting.findIndex((one) => one.key === view.selected);
  const next = waiting[(at + 1) % waiting.length];
  if (!next) return;
  screen.select(next.key);
  if (view.focus === "detail") screen.set({ open: { key: next.key, view: "timeline", of: null, ref: null } });
}

/** Everything that wants the person, with what is asked in full. */
export function openInbox(screen: Screen): void {
  const { sessions } = joinSessions(screen.store.getState().sessions);
  const items = inboxOf(
    screen.rows().keys.flatMap((key) => sessions.get(key) ?? []),
    (key) => snoozedUntil(screen, key),
  ).map(
    (one): PickerItem => ({
      label: cleanLine(screen.context.memory.get("name", one.key) ?? one.title),
      note: ageOf(one.updatedAt, screen.store.getState().clock),
      detail: one.activity ?? one.why[0] ?? "",
      status: one.status,
      run: () => screen.openSession(one.key),
      aside: { title: "snooze", run: () => snooze(screen, one.key) },
    }),
  );
  const empty = "Nobody needs you. Finished work that you have not seen appears here too.";
  screen.overlay({ type: "picker", title: "inbox · Enter opens, x snoozes", items, typing: false, busy: false, empty });
}

/** Full text over every session: asks what for. */
export function askSearchAll(screen: Screen): void {
  screen.overlay({
    type: "ask",
    title: "search the text of all sessions, tool output too",
    label: "//",
    initial: "",
    done: (text) => searchAll(screen, text),
  });
}

export function searchAll(screen: Screen, text: string): void {
  screen.say(`searching ${text}`);
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
function startPicker(screen: Screen, title: string, empty: string): { add(item: PickerItem): boolean; done(): void } {
  let items: PickerItem[] = [];
  let shown: Picker = { type: "picker", title, items, typing: true, busy: true, empty };
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
    done: () => void put(false),
  };
}

export function showWhy(screen: Screen): void {
  const session = screen.session();
  if (session) screen.overlay({ type: "why", key: session.key });
}

/** Who wants the person: questions before failures before finished work, those that wait longest first. */
export function inboxOf(sessions: readonly Snapshot[], snoozedUntil: (key: SessionKey) => string | null): Snapshot[] {
  const order = ["needs-input", "failed", "done"];
  const place = (one: Snapshot): number => order.indexOf(one.status);
  return sessions
    .filter((one) => place(one) >= 0 && (snoozedUntil(one.key) ?? "") < (one.updatedAt ?? "~"))
    .sort((a, b) => place(a) - place(b) || (a.updatedAt ?? "").localeCompare(b.updatedAt ?? ""));
}

function rank(snapshot: Snapshot): number {
  return snapshot.status === "needs-input" ? 0 : 1;
}
