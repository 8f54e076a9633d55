import { COUNTED, countStatuses } from "./counts.ts";
import type { SessionKey } from "./key.ts";
import type { Snapshot } from "./snapshot.ts";
import { STATUSES, type StatusName } from "./status.ts";
import { cleanLine, cutCodePoints } from "./untrusted.ts";

/** What a person is told of: a session starts to need them, fails, or finishes. */
export type NoticeKind = "needs-input" | "failed" | "done";

/** What was last told of a session, by kind: with it, one turn is told once. */
export type Told = Partial<Record<NoticeKind, Mark>>;

/** How far a session was when something was told of it. */
export interface Mark {
  /** Which turn it was, null where the tool counts neither prompts nor messages. */
  turn: string | null;
  asked: string | null;
  updatedAt: string | null;
}

export interface Change {
  /** null: it was not there before. */
  before: Snapshot | null;
  after: Snapshot;
  /** Its last status before that said anything: a failed look (`unknown`) in between is no change. */
  from: StatusName | null;
  told: Told;
  /** ms since 1970. */
  now: number;
}

/** What appears out of nowhere counts only when it was written this recently, ms: a mounted directory is no news. */
const FRESH_MS = 60_000;

/** Which notice a change is worth, null when none. Whether it is quiet for other reasons is not asked here. */
export function noticeKind(change: Change): NoticeKind | null {
  const { before, after, from, told, now } = change;
  if (before === null || from === null) {
    const kind = wants(after.status);
    return kind !== null && isFresh(after, now) && !wasTold(told[kind], after, kind) ? kind : null;
  }
  if (after.status === from) {
    // One question answered and the next one asked between two looks.
    const next = after.status === "needs-input" && after.activity !== before.activity;
    return next && after.updatedAt !== before.updatedAt && !wasTold(told["needs-input"], after, "needs-input")
      ? "needs-input"
      : null;
  }
  const kind = from === "working" && after.status === "idle" ? "done" : wants(after.status);
  if (kind === null || wasTold(told[kind], after, kind)) return null;
  // A result that was seen and is marked unseen has not finished again.
  if (kind === "done" && from === "idle" && wasTold(markOf(before), after, kind)) return null;
  return kind;
}

/** The mark to remember when a notice was told. */
export function markOf({ extra, messages, activity, updatedAt }: Snapshot): Mark {
  const { counts, lastPrompt } = extra;
  const prompts = typeof counts === "object" && counts !== null && "human" in counts ? counts.human : null;
  const counted = typeof prompts === "number" ? prompts : messages;
  // The prompt itself counts too: after a rewind their number is an old one.
  const turn = counted === 0 ? null : `${counted} ${typeof lastPrompt === "string" ? lastPrompt : ""}`;
  return { turn, asked: activity, updatedAt };
}

/** What needs no telling of a session that is first met as it is. */
export function alreadySo(snapshot: Snapshot): Told {
  const kind = snapshot.status === "idle" ? "done" : wants(snapshot.status);
  return kind === null ? {} : { [kind]: markOf(snapshot) };
}

function wants(status: StatusName): NoticeKind | null {
  return status === "needs-input" || status === "failed" || status === "done" ? status : null;
}

/**
 * Whether this was told already. A turn finishes once, however often the look of it flickers; questions and failures are
 * told again when anything was written in between.
 */
function wasTold(told: Mark | undefined, snapshot: Snapshot, kind: NoticeKind): boolean {
  if (told === undefined) return false;
  const mark = markOf(snapshot);
  if (kind === "done" && mark.turn !== null) return told.turn === mark.turn;
  return told.updatedAt === mark.updatedAt && told.asked === mark.asked;
}

function isFresh(snapshot: Snapshot, now: number): boolean {
  return snapshot.updatedAt !== null && now - Date.parse(snapshot.updatedAt) <= FRESH_MS;
}

/** A notice in words. Clean: one line each, no control bytes, cut. */
export interface Notice {
  /** null for a summary of several. */
  key: SessionKey | null;
  kind: NoticeKind;
  title: string;
  text: string;
}

const MOST_TITLE = 100;
const MOST_TEXT = 200;
/** More than this many at once are told as one. */
const MOST_SINGLE = 2;

const WORDS: Record<NoticeKind, { begins: string; otherwise: string; many: string }> = {
  "needs-input": { begins: "Needs you", otherwise: "It waits for you.", many: "need you" },
  failed: { begins: "Failed", otherwise: "The last thing was an error.", many: "failed" },
  done: { begins: "Finished", otherwise: "Its result was not looked at yet.", many: "finished" },
};

export interface Pending {
  kind: NoticeKind;
  snapshot: Snapshot;
  /** The person's own name for it, null when they gave none. */
  name: string | null;
}

/** The notices for what happened within a moment: one each, or a single one for many. Most urgent first. */
export function notices(pending: readonly Pending[]): Notice[] {
  const ordered = [...pending].sort((a, b) => STATUSES[a.kind].rank - STATUSES[b.kind].rank);
  if (ordered.length <= MOST_SINGLE) return ordered.map(single);
  const counts = countStatuses(ordered.map(({ kind }) => ({ status: kind })));
  const parts = COUNTED.flatMap((status) => {
    const kind = wants(status);
    return kind !== null && counts[kind] ? [`${counts[kind]} ${WORDS[kind].many}`] : [];
  });
  const first = ordered[0];
  return first === undefined
    ? []
    : [
        {
          key: null,
          kind: first.kind,
          title: cutCodePoints(`Sessions: ${parts.join(", ")}`, MOST_TITLE),
          text: cutCodePoints(ordered.map((one) => cutCodePoints(titleOf(one), 40)).join(" · "), MOST_TEXT),
        },
      ];
}

function single(one: Pending): Notice {
  const { begins, otherwise } = WORDS[one.kind];
  const said = cleanLine(one.snapshot.activity ?? "");
  return {
    key: one.snapshot.key,
    kind: one.kind,
    title: cutCodePoints(`${begins}: ${titleOf(one)}`, MOST_TITLE),
    text: cutCodePoints(said === "" ? otherwise : said, MOST_TEXT),
  };
}

function titleOf({ name, snapshot }: Pending): string {
  return cleanLine(name ?? snapshot.title) || cleanLine(snapshot.id);
}
