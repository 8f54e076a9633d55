import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { runSliced } from "../../files/fold.ts";
import { openRegular } from "../../files/open.ts";
import { publishNew } from "../../files/publish.ts";
import { type SessionKey, sessionKey } from "../../session/key.ts";
import { forkedFrom, forksByCopy } from "../agents/forks-by-copy.ts";
import { newUuid7 } from "../agents/uuid7.ts";
import { linesForward } from "../jsonl/line-windows.ts";
import { type Fields, objectField, parseRecord } from "../jsonl/record.ts";
import type { ForkAbility } from "../source.ts";
import { type Cut, cutBefore } from "./cuts.ts";
import { newCodexFile } from "./file.ts";
import { advanceCodex } from "./fold.ts";
import { openRollout } from "./open-rollout.ts";
import { pathOf } from "./path.ts";
import type { HeldThread } from "./reader.ts";
import { officialFork } from "./resume.ts";
import { localDay, rolloutFileName } from "./rollout-name.ts";
import { metaOf, type Rollout, type RolloutLookup } from "./rollouts.ts";
import { placeOfRef } from "./transcript.ts";

export interface ForkServices {
  heldOf(key: SessionKey): HeldThread;
  refresh(held: HeldThread): Promise<Rollout>;
  lookup(): RolloutLookup;
  now(): Date;
}

/**
 * A copy of a rollout cut at a turn's end under a new thread id, which stands in the name and in the header: a
 * mismatch would poison the original in codex's database (agents.md §8). Refused while the original's lock is held.
 */
export function codexForks(services: ForkServices): ForkAbility {
  const cutOf = (held: HeldThread, current: Rollout, before: string | null): Cut => {
    if (held.holder.held === "yes") return { ok: false, reason: heldReason(held) };
    const lookup = services.lookup();
    const files = pathOf(current, lookup).map((part) => part.file);
    const place = before === null ? null : placeOfRef(before, current, [...files, current]);
    if (before !== null && place === null) {
      return { ok: false, reason: `there is no entry ${before} to fork before` };
    }
    return cutBefore(current, lookup, place);
  };
  return forksByCopy({
    async prepare(key, before) {
      const held = services.heldOf(key);
      const cut = cutOf(held, await services.refresh(held), before);
      return cut.ok ? { ok: true, copy: { held, cut } } : cut;
    },
    says: ({ cut }) => [
      `copies the first ${cut.offset ?? cut.file.folded.state.bytes} bytes of ${cut.file.path}`,
      `to a new thread below ${join(cut.file.root.path, "sessions")}`,
    ],
    titleOf: ({ held }) => held.snapshot.title,
    isOver: ({ cut }) => cut.over,
    ask: ({ held }) =>
      held.holder.held === "unknown" ? "locks cannot be looked at: it may be open in codex right now" : null,
    async write({ held, cut }) {
      const at = services.now();
      const id = newUuid7(at.getTime());
      const directory = join(cut.file.root.path, "sessions", ...localDay(at));
      await mkdir(directory, { recursive: true });
      const path = join(directory, rolloutFileName(at, id));
      await writeCopy(cut, id, at, path);
      return {
        key: sessionKey("codex", cut.file.root.index, id),
        id,
        path,
        resume: { argv: ["codex", "resume", id], cwd: held.snapshot.cwd },
        notes: forkedFrom(held.described.thread),
      };
    },
  });
}

function heldReason(held: HeldThread): string {
  return `it is open (${held.holder.why}), and its file must not be worked on meanwhile; \`${officialFork(held)}\` is safe`;
}

async function writeCopy(cut: Extract<Cut, { ok: true }>, id: string, at: Date, path: string): Promise<void> {
  using open = openRollout(cut.file);
  const end = cut.offset ?? open.end;
  const paginated = metaOf(cut.file)?.paginated === true;
  let lines = 0;
  const chunks = function* (): Generator<Uint8Array> {
    for (const line of linesForward(open.bytes, 0, end)) {
      if (line.offset === 0) {
        yield Buffer.from(`${JSON.stringify(newHeader(line.bytes, id, at, paginated))}\n`);
        lines += 1;
        // An older fork has all rows of its parent behind its own header, the parent's header first.
        if (paginated) continue;
      }
      yield Buffer.concat([line.bytes, Buffer.from("\n")]);
      lines += 1;
    }
  };
  await publishNew(path, chunks(), {
    mode: 0o600,
    verify: (temporary) => verifyCopy(temporary, id, lines),
  });
}

function newHeader(line: Buffer, id: string, at: Date, paginated: boolean): Fields {
  const fields = parseRecord(line)?.fields ?? null;
  const payload = objectField(fields, "payload");
  if (fields === null || payload === null) throw new Error("the header can no longer be read");
  const from = payload.id;
  const made: Fields = { ...payload, id, timestamp: at.toISOString() };
  if ("session_id" in payload || paginated) made.session_id = id;
  // The rows of paginated files name their thread; in older ones only the header can say where they are from.
  if (!paginated) made.forked_from_id = from;
  return { ...fields, timestamp: at.toISOString(), payload: made };
}

/** Reads the finished copy as the program would: its header, and every line there. */
async function verifyCopy(path: string, id: string, lines: number): Promise<void> {
  using file = openRegular(path);
  const state = newCodexFile();
  const read = await runSliced(advanceCodex(state, file, 0));
  const whole = read === file.size && state.ordinals.lines === lines && state.meta?.id === id;
  if (!whole) throw new Error("the copy is not whole: nothing was made");
}
