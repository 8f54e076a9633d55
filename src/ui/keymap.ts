import { cycleGroup, cycleSort, organise, toggleAll, togglePin, toggleScope } from "./controllers/arranging.ts";
import { copyMenu } from "./controllers/copying.ts";
import { exportMenu } from "./controllers/exporting.ts";
import {
  askSearchAll,
  nextThatNeedsMe,
  openContents,
  openDigest,
  openInbox,
  openTotals,
  showWhy,
} from "./controllers/finding.ts";
import { forkHere, undoRevertHere } from "./controllers/forking.ts";
import { chooseResumePlace, openInEditor, resumeSession } from "./controllers/resuming.ts";
import { actionMenu, openRow } from "./controllers/source-actions.ts";
import type { PlaceName, Screen } from "./screen.ts";

/** One thing a key does. Handlers, footer, help, palette and the config's names are all made from this table. */
export interface KeyCommand {
  /** Dotted, stable: what the config file calls it. */
  id: string;
  keys: readonly string[];
  /** For the footer: one or two words. */
  title: string;
  /** For the help: a sentence. */
  help: string;
  where: readonly PlaceName[];
  /** Shown in the footer, most useful first; without it, only in the help. */
  footer?: number;
  /** Why it cannot be done now, null when it can. */
  disabled?(screen: Screen): string | null;
  run(screen: Screen): void;
}

const EVERYWHERE = ["list", "transcript", "document"] as const;
const READING = ["transcript", "document"] as const;

const needsSession = (screen: Screen): string | null => (screen.session() ? null : "no session is selected");

export const KEYMAP: readonly KeyCommand[] = [
  // move
  {
    id: "list.down",
    keys: ["j", "down", "ctrl+n"],
    title: "down",
    help: "next session",
    where: ["list"],
    run: (s) => s.moveSelection(1),
  },
  {
    id: "list.up",
    keys: ["k", "up", "ctrl+p"],
    title: "up",
    help: "previous session",
    where: ["list"],
    run: (s) => s.moveSelection(-1),
  },
  {
    id: "list.first",
    keys: ["g", "home"],
    title: "first",
    help: "first session",
    where: ["list"],
    run: (s) => s.moveSelection(-1e9),
  },
  {
    id: "list.last",
    keys: ["G", "end"],
    title: "last",
    help: "last session",
    where: ["list"],
    run: (s) => s.moveSelection(1e9),
  },
  {
    id: "list.page-down",
    keys: ["ctrl+d", "pagedown", "ctrl+f"],
    title: "page down",
    help: "half a page down",
    where: ["list"],
    run: (s) => s.pageSelection(0.5),
  },
  {
    id: "list.page-up",
    keys: ["ctrl+u", "pageup", "ctrl+b"],
    title: "page up",
    help: "half a page up",
    where: ["list"],
    run: (s) => s.pageSelection(-0.5),
  },
  {
    id: "read.down",
    keys: ["j", "down", "ctrl+n", "ctrl+e"],
    title: "down",
    help: "a line down",
    where: READING,
    run: (s) => s.pane()?.move(1),
  },
  {
    id: "read.up",
    keys: ["k", "up", "ctrl+p", "ctrl+y"],
    title: "up",
    help: "a line up",
    where: READING,
    run: (s) => s.pane()?.move(-1),
  },
  {
    id: "read.half-down",
    keys: ["ctrl+d", "d"],
    title: "half page",
    help: "half a page down",
    where: READING,
    run: (s) => s.pane()?.page(0.5),
  },
  {
    id: "read.half-up",
    keys: ["ctrl+u"],
    title: "half page",
    help: "half a page up",
    where: READING,
    run: (s) => s.pane()?.page(-0.5),
  },
  {
    id: "read.page-down",
    keys: ["pagedown", "ctrl+f", "space"],
    title: "page",
    help: "a page down",
    where: READING,
    run: (s) => s.pane()?.page(0.95),
  },
  {
    id: "read.page-up",
    keys: ["pageup", "ctrl+b", "b"],
    title: "page",
    help: "a page up",
    where: READING,
    run: (s) => s.pane()?.page(-0.95),
  },
  {
    id: "read.first",
    keys: ["g", "home"],
    title: "top",
    help: "to the beginning",
    where: READING,
    run: (s) => s.pane()?.edge("start"),
  },
  {
    id: "read.last",
    keys: ["G", "end"],
    title: "end",
    help: "to the end",
    where: READING,
    run: (s) => s.pane()?.edge("end"),
  },
  {
    id: "entry.next",
    keys: ["J", "]"],
    title: "next entry",
    help: "next entry",
    where: ["transcript"],
    run: (s) => void s.transcript()?.seek(1, () => true),
  },
  {
    id: "entry.previous",
    keys: ["K", "["],
    title: "previous entry",
    help: "previous entry",
    where: ["transcript"],
    run: (s) => void s.transcript()?.seek(-1, () => true),
  },
  {
    id: "prompt.next",
    keys: ["}"],
    title: "next prompt",
    help: "next thing the person wrote",
    where: ["transcript"],
    run: (s) => void s.transcript()?.seek(1, (entry) => entry.kind === "message" && !entry.injected),
  },
  {
    id: "prompt.previous",
    keys: ["{"],
    title: "prev. prompt",
    help: "previous thing the person wrote",
    where: ["transcript"],
    footer: 5,
    run: (s) => void s.transcript()?.seek(-1, (entry) => entry.kind === "message" && !entry.injected),
  },
  {
    id: "error.next",
    keys: ["e"],
    title: "next error",
    help: "next error or failed result",
    where: ["transcript"],
    run: (s) => void s.transcript()?.seek(1, (entry) => entry.kind === "error" || entry.result?.isError === true),
  },
  {
    id: "error.previous",
    keys: ["E"],
    title: "prev. error",
    help: "previous error or failed result",
    where: ["transcript"],
    run: (s) => void s.transcript()?.seek(-1, (entry) => entry.kind === "error" || entry.result?.isError === true),
  },

  // open, close
  {
    id: "session.open",
    keys: ["enter", "l", "right"],
    title: "open",
    help: "read the session",
    where: ["list"],
    footer: 1,
    disabled: needsSession,
    run: (s) => s.openSelected(),
  },
  {
    id: "entry.fold",
    keys: ["enter", "l", "right"],
    title: "fold",
    help: "fold or unfold the entry under the cursor",
    where: ["transcript"],
    footer: 1,
    run: (s) => s.transcript()?.toggleFold(),
  },
  {
    id: "row.open",
    keys: ["enter", "l", "right"],
    title: "open",
    help: "open what the line under the cursor points at",
    where: ["document"],
    footer: 1,
    run: (s) => openRow(s),
  },
  {
    id: "transcript.level",
    keys: ["z"],
    title: "detail",
    help: "outline, what was said, everything",
    where: ["transcript"],
    footer: 6,
    run: (s) => s.say(`showing ${s.transcript()?.cycleLevel() ?? ""}`),
  },
  {
    id: "view.next",
    keys: ["tab"],
    title: "view",
    help: "next view of the session",
    where: EVERYWHERE,
    footer: 2,
    disabled: needsSession,
    run: (s) => s.cycleView(1),
  },
  {
    id: "view.previous",
    keys: ["shift+tab"],
    title: "view",
    help: "previous view",
    where: EVERYWHERE,
    disabled: needsSession,
    run: (s) => s.cycleView(-1),
  },
  {
    id: "screen.back",
    keys: ["esc", "h", "left"],
    title: "back",
    help: "one step back",
    where: EVERYWHERE,
    footer: 9,
    run: (s) => void s.back(),
  },
  {
    id: "transcript.follow",
    keys: ["F"],
    title: "follow",
    help: "follow the end while it grows",
    where: ["transcript"],
    footer: 7,
    run: (s) => s.transcript()?.toggleFollow(),
  },

  // find
  {
    id: "list.filter",
    keys: ["/"],
    title: "filter",
    help: "filter: words, agent: status: project: branch: model: since:2d",
    where: ["list"],
    footer: 3,
    run: (s) => s.overlay({ type: "filter" }),
  },
  {
    id: "read.search",
    keys: ["/"],
    title: "search",
    help: "search in this view",
    where: READING,
    footer: 3,
    run: (s) => s.overlay({ type: "search" }),
  },
  {
    id: "match.next",
    keys: ["n"],
    title: "next match",
    help: "next match",
    where: READING,
    run: (s) => s.pane()?.match(1),
  },
  {
    id: "match.previous",
    keys: ["N"],
    title: "prev. match",
    help: "previous match",
    where: READING,
    run: (s) => s.pane()?.match(-1),
  },
  {
    id: "list.next-match",
    keys: ["n"],
    title: "next match",
    help: "next session of the filter",
    where: ["list"],
    run: (s) => s.moveSelection(1),
  },
  {
    id: "list.previous-match",
    keys: ["N"],
    title: "prev. match",
    help: "previous session of the filter",
    where: ["list"],
    run: (s) => s.moveSelection(-1),
  },
  {
    id: "session.next-needing",
    keys: ["!"],
    title: "needs me",
    help: "next session that needs you, longest waiting first",
    where: EVERYWHERE,
    footer: 4,
    run: (s) => nextThatNeedsMe(s),
  },

  // do
  {
    id: "session.resume",
    keys: ["r"],
    title: "resume",
    help: "resume the session, or go to the pane where it is live",
    where: EVERYWHERE,
    footer: 5,
    disabled: needsSession,
    run: (s) => resumeSession(s),
  },
  {
    id: "session.resume-where",
    keys: ["R"],
    title: "resume in …",
    help: "resume, choosing where",
    where: EVERYWHERE,
    disabled: needsSession,
    run: (s) => chooseResumePlace(s),
  },
  {
    id: "session.fork",
    keys: ["f"],
    title: "fork",
    help: "a new session from everything before the entry under the cursor (in the list: from all of it)",
    where: EVERYWHERE,
    footer: 6,
    disabled: needsSession,
    run: (s) => forkHere(s, "fork"),
  },
  {
    id: "session.revert",
    keys: ["v"],
    title: "revert",
    help: "go back to before the entry under the cursor; the original is folded away, not touched",
    where: EVERYWHERE,
    footer: 7,
    disabled: needsSession,
    run: (s) => forkHere(s, "revert"),
  },
  {
    id: "session.undo",
    keys: ["u"],
    title: "undo",
    help: "take back a revert",
    where: EVERYWHERE,
    run: (s) => undoRevertHere(s),
  },
  {
    id: "session.actions",
    keys: ["a"],
    title: "actions",
    help: "what only this tool can do",
    where: EVERYWHERE,
    disabled: needsSession,
    run: (s) => actionMenu(s),
  },
  {
    id: "session.copy",
    keys: ["y"],
    title: "copy",
    help: "copy id, resume command, text",
    where: EVERYWHERE,
    footer: 8,
    disabled: needsSession,
    run: (s) => copyMenu(s),
  },
  {
    id: "session.edit",
    keys: ["o"],
    title: "editor",
    help: "open the session's file in your editor",
    where: EVERYWHERE,
    disabled: needsSession,
    run: (s) => openInEditor(s),
  },
  {
    id: "session.pin",
    keys: ["p"],
    title: "pin",
    help: "keep the session at the top",
    where: EVERYWHERE,
    disabled: needsSession,
    run: (s) => togglePin(s),
  },
  {
    id: "session.why",
    keys: ["w"],
    title: "why",
    help: "why it has this status: the evidence",
    where: EVERYWHERE,
    footer: 8,
    disabled: needsSession,
    run: (s) => showWhy(s),
  },

  // arrange
  {
    id: "screen.inbox",
    keys: ["i"],
    title: "inbox",
    help: "everything that wants you, with what is asked",
    where: EVERYWHERE,
    footer: 4,
    run: (s) => openInbox(s),
  },
  {
    id: "transcript.contents",
    keys: ["c"],
    title: "contents",
    help: "table of contents: everything the person wrote",
    where: ["transcript"],
    footer: 6,
    run: (s) => openContents(s),
  },
  {
    id: "screen.digest",
    keys: ["D"],
    title: "digest",
    help: "what happened while you looked elsewhere",
    where: EVERYWHERE,
    run: (s) => openDigest(s),
  },
  {
    id: "screen.usage",
    keys: ["U"],
    title: "usage",
    help: "tokens and cost of all sessions: by day, model, agent, project",
    where: EVERYWHERE,
    run: (s) => openTotals(s),
  },
  {
    id: "session.export",
    keys: ["X"],
    title: "export",
    help: "write the transcript as Markdown, HTML or JSON",
    where: EVERYWHERE,
    disabled: needsSession,
    run: (s) => exportMenu(s),
  },
  {
    id: "search.all",
    keys: ["ctrl+g"],
    title: "search all",
    help: "full text over all sessions, tool output too (// does the same)",
    where: EVERYWHERE,
    run: (s) => askSearchAll(s),
  },
  {
    id: "session.organise",
    keys: ["m"],
    title: "organise",
    help: "name, tags, note, snooze, hide: kept in forktail, not in the session",
    where: EVERYWHERE,
    disabled: needsSession,
    run: (s) => organise(s),
  },
  {
    id: "list.scope",
    keys: ["."],
    title: "here",
    help: "only sessions of this directory, or of everywhere",
    where: ["list"],
    run: (s) => toggleScope(s),
  },
  {
    id: "list.sort",
    keys: ["s"],
    title: "sort",
    help: "sort by the next column",
    where: ["list"],
    run: (s) => cycleSort(s),
  },
  {
    id: "list.group",
    keys: ["t"],
    title: "group",
    help: "group by the next property",
    where: ["list"],
    run: (s) => cycleGroup(s),
  },
  {
    id: "list.all",
    keys: ["A"],
    title: "all",
    help: "also sub-agents, internal and superseded sessions",
    where: ["list"],
    run: (s) => toggleAll(s),
  },
  {
    id: "screen.problems",
    keys: ["P"],
    title: "problems",
    help: "what could not be read",
    where: EVERYWHERE,
    run: (s) => s.overlay({ type: "problems" }),
  },

  // the program
  {
    id: "screen.palette",
    keys: [":"],
    title: "commands",
    help: "run anything by name",
    where: EVERYWHERE,
    run: (s) => s.overlay({ type: "palette" }),
  },
  {
    id: "screen.help",
    keys: ["?"],
    title: "help",
    help: "the keys of this place",
    where: EVERYWHERE,
    footer: 10,
    run: (s) => s.overlay({ type: "help" }),
  },
  {
    id: "screen.quit",
    keys: ["q", "ctrl+c"],
    title: "quit",
    help: "leave; nothing that runs is stopped",
    where: EVERYWHERE,
    footer: 11,
    run: (s) => s.quit(),
  },
  {
    id: "screen.stop",
    keys: ["ctrl+z"],
    title: "suspend",
    help: "to the background; fg comes back",
    where: EVERYWHERE,
    run: (s) => s.stop(),
  },
];

/** The table with the config's keys in place of the default ones. */
export function keymapOf(keys: Readonly<Record<string, readonly string[]>> | undefined): {
  keymap: readonly KeyCommand[];
  problems: string[];
} {
  if (!keys) return { keymap: KEYMAP, problems: [] };
  const unknown = Object.keys(keys).filter((id) => !KEYMAP.some((command) => command.id === id));
  const keymap = KEYMAP.map((command) => {
    const own = keys[command.id];
    return own ? { ...command, keys: own } : command;
  });
  return { keymap, problems: unknown.map((id) => `config: keys: there is no action ${id}`) };
}

/** What a key does in a place; the first row of the table that fits. */
export function commandFor(keymap: readonly KeyCommand[], place: PlaceName, key: string): KeyCommand | null {
  return keymap.find((command) => command.where.includes(place) && command.keys.includes(key)) ?? null;
}
