import { join } from "node:path";
import { type Folded, runSliced } from "../../files/fold.ts";
import { type OpenFile, openRegular } from "../../files/open.ts";
import { publishNew } from "../../files/publish.ts";
import { type SessionKey, sessionKey } from "../../session/key.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { forkedFrom, forksByCopy } from "../agents/forks-by-copy.ts";
import { newUuid7 } from "../agents/uuid7.ts";
import type { Live } from "../by-process/seats.ts";
import { lineAt } from "../jsonl/line-windows.ts";
import { objectField, parseRecord, textField } from "../jsonl/record.ts";
import type { ForkAbility } from "../source.ts";
import { type Cut, cutBefore } from "./cuts.ts";
import { newPiFile, type PiFile } from "./file.ts";
import { advancePi } from "./fold.ts";
import type { Candidate } from "./sessions.ts";
import { activePath } from "./tree.ts";

export interface ForkNeeds {
  session(key: SessionKey): { snapshot: Snapshot; candidate: Candidate; live: Live | null };
  fresh(candidate: Candidate): Promise<Folded<PiFile>>;
  /** Where the copy goes: beside its original, of a sub-agent's session beside the one that began it all. */
  directoryFor(candidate: Candidate): string;
  /** ms since 1970. */
  now(): number;
}

/** pi's own fork of the whole session, safe at any time (agents.md §8). */
function officialFork(path: string): string {
  return `pi --fork ${path}`;
}

/**
 * A new file: a header that names the old one, and the entries from the root to the cut as they are. Verified by
 * resuming such files with the program (agents.md §8). pi lists it at once.
 */
export function piForks(needs: ForkNeeds): ForkAbility {
  return forksByCopy({
    async prepare(key, before) {
      const { snapshot, candidate, live } = needs.session(key);
      const folded = await needs.fresh(candidate);
      const cut = cutOf(folded, before, live);
      return cut.ok ? { ok: true, copy: { snapshot, candidate, folded, cut } } : cut;
    },
    says: ({ candidate, folded, cut }) => [
      `copies ${cut.path.length} of ${folded.state.ids.length} entries of ${folded.path}`,
      `to a new session in ${needs.directoryFor(candidate)}`,
    ],
    titleOf: ({ snapshot }) => snapshot.title,
    isOver: ({ cut }) => cut.over,
    async write({ candidate, folded, cut }) {
      const at = needs.now();
      const id = newUuid7(at);
      const time = new Date(at).toISOString();
      const path = join(needs.directoryFor(candidate), `${time.replace(/[:.]/gu, "-")}_${id}.jsonl`);
      await writeCopy(folded, cut.path, path, { id, time });
      return {
        key: sessionKey("pi", candidate.root.index, id),
        id,
        path,
        resume: { argv: ["pi", "--session", path], cwd: candidate.header.cwd },
        notes: forkedFrom(candidate.header.id),
      };
    },
  });
}

function cutOf(folded: Folded<PiFile>, before: string | null, live: Live | null): Cut {
  if (live !== null && !live.guess) {
    const reason = `it is running (process ${live.process.pid}), and a copy could be cut in the middle of a turn; \`${officialFork(folded.path)}\` is safe`;
    return { ok: false, reason };
  }
  if (before === null) return cutBefore(folded.state, null);
  const row = Object.hasOwn(folded.state.rows, before) ? folded.state.rows[before] : undefined;
  if (row === undefined) return { ok: false, reason: `there is no entry ${before} to fork before` };
  return cutBefore(folded.state, row);
}

async function writeCopy(
  folded: Folded<PiFile>,
  rows: readonly number[],
  path: string,
  made: { id: string; time: string },
): Promise<void> {
  const { state } = folded;
  const { header } = state;
  using file = openRegular(folded.path);
  if (header === null || file.stat.ino !== folded.ino || file.size < folded.offset) {
    throw new Error("the file was replaced while it was copied: try again");
  }
  const version = Math.max(2, header.version);
  const head = {
    type: "session",
    version: header.version < 2 ? 3 : version,
    id: made.id,
    timestamp: made.time,
    cwd: header.cwd ?? undefined,
    parentSession: folded.path,
  };
  const chunks = function* (): Generator<Uint8Array> {
    yield Buffer.from(`${JSON.stringify(head)}\n`);
    for (const row of rows) yield entryLine(state, file, folded.offset, row);
  };
  await publishNew(path, chunks(), {
    mode: file.stat.mode & 0o777,
    verify: (temporary) => verifyCopy(temporary, made.id, state, rows),
  });
}

/** The entry's own bytes; version 1 gets the ids and parents that later versions have. */
function entryLine(state: PiFile, file: OpenFile, to: number, row: number): Uint8Array {
  const line = lineAt(file, state.offsets[row] ?? 0, to);
  if (line === null) throw new Error("the file became shorter while it was copied: try again");
  if ((state.header?.version ?? 1) >= 2) return Buffer.concat([line.bytes, Buffer.from("\n")]);
  const record = parseRecord(line.bytes);
  if (record === null) throw new Error(`the entry at byte ${line.offset} can no longer be read`);
  const { firstKeptEntryIndex: _index, ...fields } = record.fields;
  const kept = state.compactions.find((one) => one.row === row)?.kept ?? null;
  // Version 3 has another word for it.
  const message = objectField(fields, "message");
  if (textField(message, "role") === "hookMessage") fields.message = { ...message, role: "custom" };
  const linked = { ...fields, id: state.ids[row], parentId: state.ids[state.parents[row] ?? -1] ?? null };
  return Buffer.from(`${JSON.stringify(kept === null ? linked : { ...linked, firstKeptEntryId: kept })}\n`);
}

/** Reads the finished copy as pi would: its id, its entries, one branch from the first to the last. */
async function verifyCopy(path: string, id: string, from: PiFile, rows: readonly number[]): Promise<void> {
  using file = openRegular(path);
  const state = newPiFile();
  const read = await runSliced(advancePi(state, file, 0));
  const whole =
    read === file.size &&
    state.header?.id === id &&
    state.bad.count === 0 &&
    state.ids.length === rows.length &&
    rows.every((row, at) => state.ids[at] === from.ids[row]) &&
    activePath(state).length === rows.length;
  if (!whole) throw new Error("the copy is not whole: nothing was made");
}
