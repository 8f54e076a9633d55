import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { runNow } from "../files/fold.ts";
import { walkLines } from "../files/lines.ts";
import { CannotOpen, openRegular } from "../files/open.ts";
import { replaceFile } from "../files/publish.ts";

/** What we remember of sessions, by session key. The value's shape is part of the kind. */
const FACTS = {
  /** A revert put another session in this one's place. */
  superseded: z.object({
    by: z.string(),
    at: z.string(),
    /** Where the copy lies and how large it was made: one that grew is not withdrawn by an undo. In a database: the database's. */
    path: z.string(),
    bytes: z.number(),
  }),
  /** We made this session as a copy of another one. */
  copied: z.string(),
  /** A revert's copy that was taken back before anything was added to it. */
  withdrawn: z.literal(true),
  /** What of it the person has looked at: a mark that its source understands. */
  seen: z.string(),
  pinned: z.literal(true),
  hidden: z.literal(true),
  tags: z.array(z.string()),
  note: z.string(),
  name: z.string(),
  /** Quiet until this time, ISO 8601. */
  snoozed: z.string(),
  /** How a screen was left, by the screen's name. */
  view: z.record(z.string(), z.unknown()),
} as const;

export type FactKind = keyof typeof FACTS;
export type Fact<K extends FactKind> = z.infer<(typeof FACTS)[K]>;

const line = z.object({
  kind: z.enum(Object.keys(FACTS) as [FactKind, ...FactKind[]]),
  key: z.string(),
  value: z.unknown(),
});

/** What a newer forktail remembers and we do not know of. */
const foreignLine = z.object({ kind: z.string().refine((kind) => !Object.hasOwn(FACTS, kind)), key: z.string() });

const COMPACT_ABOVE = 512 * 1024;

/**
 * Our own memory: an append-only file of facts, the last one of a kind and key wins, null takes it back. Appends are whole
 * lines with O_APPEND, so two forktails can share it; each sees the other's lines at its next `refresh`.
 */
export class Memory {
  readonly directory: string;
  readonly #path: string;
  readonly #facts = new Map<FactKind, Map<string, unknown>>();
  /** The last lines of a newer forktail, by kind and key: not understood, and kept. */
  readonly #foreign = new Map<string, string>();
  /** The file ends inside a line: a crash of an earlier writer. */
  #torn = false;
  #read = { dev: 0, ino: 0, offset: 0 };
  #revision = 0;

  constructor(directory: string) {
    this.directory = directory;
    this.#path = join(directory, "memory.jsonl");
    this.refresh();
  }

  /** Grows whenever a fact changed. */
  get revision(): number {
    return this.#revision;
  }

  get<K extends FactKind>(kind: K, key: string): Fact<K> | null {
    // Facts only enter through `#take`, which checked them against the kind's shape.
    return (this.#facts.get(kind)?.get(key) as Fact<K> | undefined) ?? null;
  }

  all<K extends FactKind>(kind: K): ReadonlyMap<string, Fact<K>> {
    return (this.#facts.get(kind) ?? new Map()) as ReadonlyMap<string, Fact<K>>;
  }

  /** Remembers a fact, or with null forgets it. Throws when the state directory cannot be written. */
  set<K extends FactKind>(kind: K, key: string, value: Fact<K> | null): void {
    if (JSON.stringify(this.get(kind, key)) === JSON.stringify(value)) return;
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    this.refresh();
    // After a torn line ours begins on one of its own, or both would be lost.
    const start = this.#torn ? "\n" : "";
    appendFileSync(this.#path, `${start}${JSON.stringify({ kind, key, value })}\n`, { mode: 0o600 });
    this.refresh();
  }

  /** Takes in what was appended since, by us or by another forktail. Damaged lines are passed over. */
  refresh(): boolean {
    const before = this.#revision;
    try {
      using file = openRegular(this.#path);
      const { dev, ino } = file.stat;
      if (dev !== this.#read.dev || ino !== this.#read.ino || file.size < this.#read.offset) {
        this.#forget();
        this.#read = { dev, ino, offset: 0 };
      }
      this.#read.offset = runNow(walkLines(file, this.#read.offset, { line: (bytes) => this.#take(bytes) }));
      this.#torn = file.size > this.#read.offset;
    } catch (error) {
      if (!(error instanceof CannotOpen)) throw error;
      if (error.kind === "gone" && this.#facts.size > 0) {
        this.#forget();
      }
    }
    return this.#revision !== before;
  }

  /** Writes only what still counts, when the file has grown large. Called at start, before anything is shown. */
  async compact(): Promise<void> {
    if (this.#read.offset < COMPACT_ABOVE) return;
    // What another forktail appended in the meantime counts too.
    this.refresh();
    const lines: string[] = [...this.#foreign.values()].map((one) => `${one}\n`);
    for (const [kind, facts] of this.#facts) {
      for (const [key, value] of facts) lines.push(`${JSON.stringify({ kind, key, value })}\n`);
    }
    await replaceFile(this.#path, lines.join(""), { mode: 0o600 });
    this.refresh();
  }

  #forget(): void {
    this.#facts.clear();
    this.#foreign.clear();
    this.#revision += 1;
  }

  #take(bytes: Buffer): void {
    try {
      const text = bytes.toString("utf8");
      const json: unknown = JSON.parse(text);
      const strange = foreignLine.safeParse(json);
      if (strange.success) {
        this.#foreign.set(JSON.stringify([strange.data.kind, strange.data.key]), text);
        return;
      }
      const { kind, key, value } = line.parse(json);
      const facts = this.#facts.get(kind) ?? new Map<string, unknown>();
      if (value === null || value === undefined) facts.delete(key);
      else facts.set(key, FACTS[kind].parse(value));
      this.#facts.set(kind, facts);
      this.#revision += 1;
    } catch {
      // A damaged line costs itself.
    }
  }
}
