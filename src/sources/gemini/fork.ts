import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Folded, runSliced } from "../../files/fold.ts";
import { openRegular } from "../../files/open.ts";
import { publishNew } from "../../files/publish.ts";
import { type SessionKey, sessionKey } from "../../session/key.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { forkedFrom, forksByCopy } from "../agents/forks-by-copy.ts";
import type { Live } from "../by-process/seats.ts";
import type { ForkAbility } from "../source.ts";
import { type Cut, cutBefore } from "./cuts.ts";
import { type GeminiFile, newGeminiFile } from "./file.ts";
import { advanceLines } from "./fold.ts";
import { ChatRecords } from "./records.ts";
import type { Candidate } from "./sessions.ts";

export interface ForkNeeds {
  session(key: SessionKey): { snapshot: Snapshot; candidate: Candidate; live: Live | null };
  fresh(candidate: Candidate): Promise<Folded<GeminiFile>>;
  /** ms since 1970. */
  now(): number;
}

const MOST_DRAWS = 64;

/**
 * A new chat of the same project: metadata with a new id, then the conversation's messages as they are now. The first
 * eight characters of the id are no other chat's: Gemini's clean-up deletes by them (agents.md §8).
 */
export function geminiForks(needs: ForkNeeds): ForkAbility {
  return forksByCopy({
    async prepare(key, before) {
      const { snapshot, candidate, live } = needs.session(key);
      const folded = await needs.fresh(candidate);
      const cut = cutOf(snapshot, folded, before, live);
      return cut.ok ? { ok: true, copy: { snapshot, candidate, folded, cut, whole: before === null } } : cut;
    },
    says: ({ folded, cut }) => [
      `copies ${cut.ids.length} of ${folded.state.active.length} messages of ${folded.path}`,
      `to a new chat in ${dirname(folded.path)}`,
    ],
    titleOf: ({ snapshot }) => snapshot.title,
    isOver: ({ cut }) => cut.over,
    async write({ snapshot, candidate, folded, cut, whole }) {
      const chats = dirname(folded.path);
      const id = await freshId(chats);
      const at = new Date(needs.now()).toISOString();
      const path = join(chats, `session-${at.slice(0, 16).replace(":", "-")}-${id.slice(0, 8)}.jsonl`);
      // A summary says what all of it was about, of which a part may say little.
      const summary = whole ? folded.state.summary : null;
      await writeCopy(folded, cut.ids, path, { id, at, summary });
      return {
        key: sessionKey("gemini", candidate.root.index, id),
        id,
        path,
        resume: snapshot.cwd === null ? null : { argv: ["gemini", "--resume", id], cwd: snapshot.cwd },
        notes: forkedFrom(candidate.id),
      };
    },
  });
}

function cutOf(snapshot: Snapshot, folded: Folded<GeminiFile>, before: string | null, live: Live | null): Cut {
  if (snapshot.hidden) return { ok: false, reason: "it is a sub-agent's chat: fork the session that started it" };
  if (live !== null && !live.guess) {
    return { ok: false, reason: `it is running (process ${live.process.pid}): end it first, or use /rewind in it` };
  }
  return cutBefore(folded.state, before);
}

/** A UUID whose first eight characters no chat or folder of sub-agents here has. */
async function freshId(chats: string): Promise<string> {
  const names = (await readdir(chats)).map((name) => name.toLowerCase());
  for (let draw = 0; draw < MOST_DRAWS; draw += 1) {
    const id = randomUUID();
    if (!names.some((name) => name.includes(id.slice(0, 8)))) return id;
  }
  throw new Error(`no free id in ${chats} after ${MOST_DRAWS} draws`);
}

async function writeCopy(
  folded: Folded<GeminiFile>,
  ids: readonly string[],
  path: string,
  made: { id: string; at: string; summary: string | null },
): Promise<void> {
  const { state } = folded;
  using records = new ChatRecords(folded);
  const head = {
    sessionId: made.id,
    projectHash: state.projectHash ?? undefined,
    startTime: made.at,
    lastUpdated: made.at,
    kind: "main",
    directories: state.directories.length > 0 ? state.directories : undefined,
  };
  const chunks = function* (): Generator<Uint8Array> {
    yield Buffer.from(`${JSON.stringify(head)}\n`);
    for (const id of ids) {
      const found = records.message(id);
      if (found === null) throw new Error("the chat was replaced while it was copied: try again");
      yield Buffer.from(`${JSON.stringify(found.record.fields)}\n`);
    }
    yield Buffer.from(`${JSON.stringify({ $set: { lastUpdated: made.at, summary: made.summary ?? undefined } })}\n`);
  };
  await publishNew(path, chunks(), { mode: 0o600, verify: (temporary) => verifyCopy(temporary, made.id, state, ids) });
}

/** Reads the finished copy as Gemini would: its id, every message once, with its content, numbers and calls. */
async function verifyCopy(path: string, id: string, from: GeminiFile, ids: readonly string[]): Promise<void> {
  using file = openRegular(path);
  const state = newGeminiFile();
  const read = await runSliced(advanceLines(state, file, 0));
  const whole =
    read === file.size &&
    state.id === id &&
    state.bad.count === 0 &&
    state.active.length === ids.length &&
    ids.every((one, at) => {
      const copy = state.messages[one];
      const original = from.messages[one];
      return (
        state.active[at] === one &&
        copy?.prompt === original?.prompt &&
        copy?.tokens?.total === original?.tokens?.total &&
        copy?.calls.length === original?.calls.length
      );
    });
  if (!whole) throw new Error("the copy is not whole: nothing was made");
}
