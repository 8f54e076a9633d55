import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { type Folded, runSliced } from "../../files/fold.ts";
import { openRegular } from "../../files/open.ts";
import { publishNew } from "../../files/publish.ts";
import { membersOf } from "../../files/raw-json.ts";
import { type SessionKey, sessionKey } from "../../session/key.ts";
import { forkedFrom, forksByCopy } from "../agents/forks-by-copy.ts";
import { type Line, linesForward } from "../jsonl/line-windows.ts";
import { objectField, parseRecord, recordText, textField } from "../jsonl/record.ts";
import type { ForkAbility } from "../source.ts";
import { type Cut, cutBefore } from "./cuts.ts";
import { type ClaudeFile, newClaudeFile } from "./file.ts";
import { advanceClaude } from "./fold.ts";
import type { Live } from "./liveness.ts";
import type { HeldSession } from "./reader.ts";
import { officialFork } from "./resume.ts";
import { activeBranch } from "./tree.ts";

/**
 * A copy of the conversation up to a prompt under a new id, in the same folder, made as `/branch` does it: the same
 * rows, each saying where it was copied from; verified by resuming such copies with the program (agents.md §1.3, §8).
 */
export function claudeForks(
  heldOf: (key: SessionKey) => HeldSession,
  liveOf: (id: string) => Live | null,
  fresh: (held: HeldSession) => Promise<Folded<ClaudeFile>>,
): ForkAbility {
  return forksByCopy({
    async prepare(key, before) {
      const held = heldOf(key);
      const folded = await fresh(held);
      const cut = refuseLive(held.id, liveOf(held.id)) ?? cutAt(folded.state, before);
      const row = before === null ? null : (rowOf(folded.state, before) ?? null);
      return cut.ok ? { ok: true, copy: { held, folded, cut, row } } : cut;
    },
    says: ({ cut, folded }) => [
      `copies ${countOf(cut.branch)} of ${folded.state.parents.length} rows of ${folded.path}`,
      `to a new session in ${dirname(folded.path)}`,
    ],
    titleOf: ({ held }) => held.snapshot.title,
    isOver: ({ cut }) => cut.over,
    async write({ held, folded, cut, row }) {
      const id = randomUUID();
      const path = join(dirname(folded.path), `${id}.jsonl`);
      const title = `${held.snapshot.title} (fork)`;
      await writeCopy(folded, { id: held.id, newId: id, title, cut, row }, path);
      return {
        key: sessionKey("claude", held.winner.root.index, id),
        id,
        path,
        resume: { argv: ["claude", "--resume", id], cwd: held.snapshot.cwd },
        notes: forkedFrom(held.id),
      };
    },
  });
}

function cutAt(state: ClaudeFile, before: string | null): Cut {
  const row = before === null ? null : rowOf(state, before);
  if (row === undefined) return { ok: false, reason: `there is no entry ${before} to fork before` };
  return cutBefore(state, row);
}

function rowOf(state: ClaudeFile, ref: string): number | undefined {
  return Object.hasOwn(state.rows, ref) ? state.rows[ref] : undefined;
}

function refuseLive(id: string, live: Live | null): Cut | null {
  if (live === null || live.guess) return null;
  return {
    ok: false,
    reason: `it is running (process ${live.process.pid}), and a copy could be cut in the middle of a turn; \`${officialFork(id)}\` is safe`,
  };
}

function countOf(branch: Uint8Array): number {
  return branch.reduce((sum, on) => sum + on, 0);
}

interface CopyPlan {
  id: string;
  newId: string;
  title: string;
  cut: Extract<Cut, { ok: true }>;
  row: number | null;
}

async function writeCopy(folded: Folded<ClaudeFile>, plan: CopyPlan, path: string): Promise<void> {
  const { state } = folded;
  using file = openRegular(folded.path);
  if (file.stat.ino !== folded.ino || file.size < folded.offset)
    throw new Error("the file was replaced while it was copied: try again");
  const offsets = new Map<number, string>();
  const uuids = uuidsOf(state);
  plan.cut.branch.forEach((on, row) => {
    const uuid = uuids[row];
    if (on === 1 && uuid !== undefined) offsets.set(state.offsets[row] ?? -1, uuid);
  });
  const copied = new Set(offsets.values());
  const behind = plan.row === null ? folded.offset : Math.max(...[...offsets.keys()].map((offset) => offset + 1));
  const chunks = function* (): Generator<Uint8Array> {
    for (const line of linesForward(file, 0, folded.offset)) {
      if (line.offset >= behind) break;
      const uuid = offsets.get(line.offset);
      const made = uuid === undefined ? besideLine(line, plan, copied) : rowLine(line, plan, uuid);
      if (made !== null) yield Buffer.from(`${made}\n`);
    }
    yield Buffer.from(`${JSON.stringify({ type: "custom-title", customTitle: plan.title, sessionId: plan.newId })}\n`);
  };
  await publishNew(path, chunks(), {
    mode: file.stat.mode & 0o777,
    verify: (temporary) =>
      verifyCopy(temporary, {
        id: plan.newId,
        copied,
        leaf: uuids[plan.cut.leaf] ?? "",
        loose: new Set(state.loose.filter(([row]) => plan.cut.branch[row] === 1).map(([row]) => uuids[row] ?? "")),
      }),
  });
}

function uuidsOf(state: ClaudeFile): string[] {
  const uuids: string[] = [];
  for (const [uuid, row] of Object.entries(state.rows)) uuids[row] = uuid;
  return uuids;
}

/** A row of the copy: its session is the new one, and it says which row it was. */
function rowLine(line: Line, plan: CopyPlan, uuid: string): string {
  const origin = { sessionId: plan.id, messageUuid: uuid };
  const made = withMembers(line, { sessionId: plan.newId, forkedFrom: origin });
  if (made === null) throw new Error(`the row at byte ${line.offset} can no longer be read`);
  return made;
}

/** The record with other values for some of its members, and every other value as it was written: numbers above 2^53 too. */
function withMembers(line: Line, values: Readonly<Record<string, unknown>>): string | null {
  const text = recordText(line.bytes);
  if (text === null) return null;
  const members = membersOf(text);
  for (const [name, value] of Object.entries(values)) members.set(name, JSON.stringify(value));
  return `{${Array.from(members, ([name, raw]) => `${JSON.stringify(name)}:${raw}`).join(",")}}`;
}

/** Settings go along; backups only of rows that do; titles, running totals and typed-ahead prompts stay behind. */
function besideLine(line: Line, plan: CopyPlan, copied: ReadonlySet<string>): string | null {
  if (line.bytes.length > 1024 * 1024) return null;
  const fields = parseRecord(line.bytes)?.fields ?? null;
  switch (textField(fields, "type")) {
    case "mode":
    case "permission-mode":
    case "tag":
    case "ai-title":
      return withMembers(line, { sessionId: plan.newId });
    case "file-history-snapshot": {
      const message = textField(fields, "messageId") ?? textField(objectField(fields, "snapshot"), "messageId");
      return message !== null && copied.has(message) ? recordText(line.bytes) : null;
    }
    default:
      return null;
  }
}

/** What a finished copy must hold. */
interface CopyFacts {
  id: string;
  copied: ReadonlySet<string>;
  leaf: string;
  /** Rows whose parent lies before them nowhere: in the original neither. */
  loose: ReadonlySet<string>;
}

/** Reads the finished copy as the program would: its ids, its rows, and one chain from the end to the start. */
async function verifyCopy(path: string, { id, copied, leaf, loose }: CopyFacts): Promise<void> {
  using file = openRegular(path);
  const state = newClaudeFile();
  const read = await runSliced(advanceClaude(state, file, 0));
  const rows = Object.keys(state.rows);
  const uuids = uuidsOf(state);
  const whole =
    read === file.size &&
    state.bad.count === 0 &&
    state.loose.length === loose.size &&
    state.loose.every(([row]) => loose.has(uuids[row] ?? "")) &&
    rows.length === copied.size &&
    rows.every((uuid) => copied.has(uuid)) &&
    Object.keys(state.sessionRows).every((session) => session === id);
  if (!whole) throw new Error("the copy is not whole: nothing was made");
  const leafRow = state.rows[leaf] ?? -1;
  if (leafRow < 0 || activeBranch(state)[leafRow] !== 1)
    throw new Error("the copy would go on from another row: nothing was made");
}
