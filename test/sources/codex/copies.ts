import { Rollout, type Row, uuid7 } from "./rows.ts";

const START = Date.parse("2026-11-10T09:00:00.000Z");

/** A turn with one request; its output tokens are like no other's. */
interface Turn {
  output: number;
  /** The thread that made it. */
  by: string;
  /** Rows of its file up to its end. */
  end: number;
}

interface Told {
  rollout: Rollout;
  /** Output of the turns of its base, in its conversation. */
  based: number[];
  turns: Turn[];
  /** The running total. */
  tokens: number;
}

/** Threads that are begun, gone on with, forked, copied and reverted; each file begins an hour after the one before. */
export class Copies {
  readonly files: Told[] = [];
  readonly #paginated: boolean;
  readonly #records: boolean;
  #said = 0;

  constructor(kind: { paginated: boolean; records: boolean }) {
    this.#paginated = kind.paginated;
    this.#records = kind.records;
  }

  get #now(): string {
    return new Date(START + this.files.length * 3_600_000).toISOString();
  }

  begin(): void {
    const rollout = new Rollout(this.#now, { paginated: this.#paginated, n: this.files.length });
    this.files.push({ rollout, based: [], turns: [], tokens: 0 });
  }

  say({ rollout, turns }: Told): void {
    this.#said += 1;
    const one = this.files.find((file) => file.rollout === rollout);
    if (one === undefined) return;
    const output = this.#said;
    rollout.prompt(`p${output}`).reply(`a${output}`);
    if (this.#records) rollout.record(`r${output}`, 10, output);
    one.tokens += output;
    rollout.total([one.tokens, one.tokens], [output, output]).done();
    turns.push({ output, by: rollout.id, end: rollout.rows.length });
  }

  /** As codex does: a base alone, or in older files every row behind a header of its own. */
  fork(from: Told, kept: number): void {
    const { id } = from.rollout;
    const { turns, tokens, rows, based } = firstTurns(from, kept);
    const n = this.files.length;
    if (!this.#paginated) {
      const rollout = new Rollout(this.#now, { paginated: false, n, meta: { forked_from_id: id } });
      for (const row of rows) rollout.raw(row);
      this.files.push({ rollout, based: [], turns: turns.map((one) => ({ ...one, end: one.end + 1 })), tokens });
      return;
    }
    const ordinal = nextOrdinal(rows);
    const meta = { forked_from_id: id, history_base: { thread_id: id, end_ordinal_exclusive: ordinal } };
    this.files.push({ rollout: new Rollout(this.#now, { n, ordinal, meta }), based, turns: [], tokens });
  }

  /** As codex does: another file of the thread, based on the one before. */
  revert(from: Told, kept: number): void {
    if (!this.#paginated) return;
    const { id } = from.rollout;
    const { tokens, rows, based } = firstTurns(from, kept);
    const ordinal = nextOrdinal(rows);
    const meta = { history_base: { thread_id: id, end_ordinal_exclusive: ordinal } };
    const rollout = new Rollout(this.#now, { id, rollout: uuid7(this.#now), ordinal, meta });
    this.files.push({ rollout, based, turns: [], tokens });
  }

  /** As we do: the header with another id, and the first rows as they are. */
  copy(from: Told, kept: number): void {
    if (!this.#paginated) return;
    const { turns, tokens, rows } = firstTurns(from, kept);
    const [header, ...rest] = rows;
    const id = uuid7(this.#now, this.files.length);
    const meta = { ...(header?.payload as Row), id, session_id: id, timestamp: this.#now };
    const rollout = new Rollout(this.#now, { id, ordinal: nextOrdinal(rows) - 1, meta });
    rollout.rows[0] = { ...rollout.rows[0], ordinal: header?.ordinal };
    for (const row of rest) rollout.raw(row);
    this.files.push({ rollout, based: from.based, turns, tokens });
  }

  /** The file a thread goes on in. */
  current(i: number): Told | undefined {
    return this.files.findLast((one) => one.rollout.id === this.files[i]?.rollout.id);
  }

  /** Output of what is in a thread's conversation, and of what it made besides: reverted turns were billed. */
  outputs(id: string): Set<number> {
    const files = this.files.filter((one) => one.rollout.id === id);
    const current = files.at(-1);
    const own = files.flatMap((one) => one.turns.filter((turn) => turn.by === id));
    return new Set([...(current?.based ?? []), ...[...(current?.turns ?? []), ...own].map((turn) => turn.output)]);
  }
}

function firstTurns(from: Told, kept: number) {
  const turns = from.turns.slice(0, kept);
  const left = from.turns.slice(kept).reduce((sum, turn) => sum + turn.output, 0);
  const rows = from.rollout.rows.slice(0, turns.at(-1)?.end ?? 1);
  return { turns, tokens: from.tokens - left, rows, based: [...from.based, ...turns.map((turn) => turn.output)] };
}

function nextOrdinal(rows: readonly Row[]): number {
  return Number(rows.at(-1)?.ordinal ?? -1) + 1;
}
