import { keepSession } from "../../actions/keep.ts";
import { now } from "../../probe/clock.ts";
import { expiresIn } from "../../session/expiry.ts";
import type { SessionKey } from "../../session/key.ts";
import { isSnoozed, snoozeFact } from "../../session/snooze.ts";
import { GROUPS, type MenuItem, SORTS } from "../../store/view.ts";
import type { Screen } from "../screen.ts";
import { age } from "../text/amounts.ts";

const SNOOZE_MS = 60 * 60_000;

export function cycleSort(screen: Screen): void {
  const sort = SORTS[(SORTS.indexOf(screen.view.sort) + 1) % SORTS.length] ?? "updated";
  screen.set({ sort });
  screen.say(`sorted by ${sort}`);
  rememberList(screen);
}

export function cycleGroup(screen: Screen): void {
  const group = GROUPS[(GROUPS.indexOf(screen.view.group) + 1) % GROUPS.length] ?? "none";
  screen.set({ group });
  screen.say(group === "none" ? "not grouped" : `grouped by ${group}`);
  rememberList(screen);
}

export function toggleAll(screen: Screen): void {
  screen.set({ all: !screen.view.all });
  screen.say(
    screen.view.all ? "all sessions, internal and superseded ones too" : "without internal and superseded sessions",
  );
}

/** Quiet for an hour, or awake again; another status or another question wakes it early. */
export function snooze(screen: Screen, key: SessionKey): void {
  const { memory, env } = screen.context;
  const snapshot = screen.snapshot(key);
  if (!snapshot) return;
  const asleep = isSnoozed(snapshot, memory.get("snoozed", key), now(env));
  memory.set("snoozed", key, asleep ? null : snoozeFact(snapshot, now(env) + SNOOZE_MS));
  screen.memoryChanged();
  screen.say(asleep ? "awake again" : "snoozed for an hour, or until it asks something else");
}

/** Rename, tag, note, hide, snooze: all in our own memory, never in the tool's files. */
export function organise(screen: Screen): void {
  const session = screen.session();
  if (!session) return;
  const { memory } = screen.context;
  const { key } = session;
  const ask = (title: string, initial: string, done: (text: string) => void): MenuItem => ({
    label: title,
    note: initial,
    run: () =>
      screen.overlay({
        type: "ask",
        title,
        label: "",
        initial,
        verb: "keep",
        done: (text) => {
          done(text.trim());
          screen.memoryChanged();
        },
      }),
  });
  const hidden = memory.get("hidden", key) !== null;
  const asleep = isSnoozed(session, memory.get("snoozed", key), now(screen.context.env));
  const expires = expiresIn(session, now(screen.context.env));
  const items: MenuItem[] = [
    ask("name it (empty takes it back)", memory.get("name", key) ?? "", (text) =>
      memory.set("name", key, text || null),
    ),
    ask("tags, separated by spaces", (memory.get("tags", key) ?? []).join(" "), (text) =>
      memory.set("tags", key, text === "" ? null : text.split(/\s+/u)),
    ),
    ask("note", memory.get("note", key) ?? "", (text) => memory.set("note", key, text || null)),
    {
      label: asleep ? "wake up" : "snooze for an hour",
      run: () => snooze(screen, key),
    },
    {
      label: hidden ? "show it again" : "hide it (A lists hidden ones)",
      run: () => {
        memory.set("hidden", key, hidden ? null : true);
        screen.memoryChanged();
        screen.say(hidden ? "shown again" : "hidden; A lists hidden sessions");
      },
    },
  ];
  items.push({
    label: "keep a compressed copy",
    ...(expires === null ? {} : { note: `its tool deletes it in ${age(expires)}` }),
    run: () =>
      screen.attempt(async () => {
        const { unchanged, leftOut } = await keepSession(screen.context, session);
        const missing = leftOut.length > 0 ? `; left out: ${leftOut.join(", ")}` : "";
        screen.say(
          `${unchanged ? "kept already, nothing new" : "kept; forktail restore brings it back"}${missing}`,
          leftOut.length > 0 ? "bad" : "good",
        );
      }),
  });
  screen.overlay({ type: "menu", title: "organise: kept in forktail only", items });
}

/** Sessions of the directory forktail was started in, or of everywhere. */
export function toggleScope(screen: Screen): void {
  const scope = screen.view.scope === null ? process.cwd() : null;
  screen.set({ scope });
  screen.say(scope === null ? "sessions of everywhere" : `only sessions in ${scope}`);
  rememberList(screen);
  const { keys } = screen.rows();
  if (screen.view.selected === null || !keys.includes(screen.view.selected)) screen.select(keys[0] ?? null);
}

export function togglePin(screen: Screen): void {
  const session = screen.session();
  if (!session) return;
  const { memory } = screen.context;
  const pinned = memory.get("pinned", session.key) === null;
  memory.set("pinned", session.key, pinned ? true : null);
  screen.memoryChanged();
  screen.say(pinned ? "pinned to the top" : "no longer pinned");
}

function rememberList(screen: Screen): void {
  const { sort, group, scope } = screen.view;
  screen.context.memory.set("view", "list", { sort, group, here: scope !== null });
}
