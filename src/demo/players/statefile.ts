import { appendFile, mkdir, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { encode, providerOf, type StateRecord, type Usage } from "../../sources/statefile/index.ts";
import type { Beat, Scenario, TimedBeat } from "../scenario.ts";
import { LETTERS, Seeded } from "../seeded.ts";
import type { PlayedSession, Player } from "./player.ts";

/** Sessions of Mainplane: `<dir>/mainplane/<id>.state` (statefile.md §1). */
export const statefilePlayer: Player = {
  source: "statefile",
  root: (dir) => join(dir, "mainplane"),
  begin: (session, { dir }) => new StatefileSession(session, join(dir, "mainplane", `${session.id}.state`)),
};

type Fields = Partial<Omit<StateRecord, "n" | "time" | "len">> & { kind: string };

const TEXT = "text/plain";
const JSON_TYPE = "application/json";

class StatefileSession implements PlayedSession {
  readonly #session: Scenario;
  readonly #path: string;
  readonly #seeds = new Map<string, Seeded>();
  #pending: Buffer[] = [];
  #n = 0;
  /** The step that the blocks being written belong to, null between steps. */
  #step: { id: string; upto: number } | null = null;
  #blocksCalls: string[] = [];
  #waiting: string[] = [];
  #prompt = 0;

  constructor(session: Scenario, path: string) {
    this.#session = session;
    this.#path = path;
  }

  play({ beat, of }: TimedBeat, time: Date): void {
    // A copied prefix keeps the ids of the session it was copied from, so they come from that one's seed.
    const seed = this.#seeds.get(of) ?? new Seeded(of);
    this.#seeds.set(of, seed);
    const write = (fields: Fields): void => this.#write(fields, time, seed);
    if (this.#n === 0) {
      write({ kind: "start" });
      write({ kind: "config", type: JSON_TYPE, body: json(this.#config()) });
    }
    for (const record of this.#records(beat, seed)) write(record);
  }

  async flush(backdate: Date | null): Promise<void> {
    if (this.#pending.length === 0) return;
    const bytes = Buffer.concat(this.#pending);
    this.#pending = [];
    await mkdir(dirname(this.#path), { recursive: true });
    await appendFile(this.#path, bytes, { mode: 0o644 });
    if (backdate !== null) await utimes(this.#path, backdate, backdate);
  }

  #config(): Record<string, unknown> {
    const { model, workers, limit } = this.#session;
    return { model, tools: "default", workers, context: limit, input: ["image/png", "image/jpeg"] };
  }

  *#records(beat: Beat, seed: Seeded): Generator<Fields> {
    if ("system" in beat) yield { kind: "system", type: TEXT, source: beat.source, body: text(beat.system) };
    else if ("message" in beat) yield { kind: "message", type: TEXT, via: beat.via, body: text(beat.message) };
    else if ("thinking" in beat) {
      const body = json({ type: "thinking", thinking: beat.thinking, signature: seed.from(LETTERS, 64) });
      yield { kind: "thinking", type: JSON_TYPE, step: this.#open(seed), provider: this.#provider, body };
    } else if ("text" in beat) yield { kind: "text", type: TEXT, step: this.#open(seed), body: text(beat.text) };
    else if ("call" in beat) {
      const id = `toolu_${seed.from(LETTERS, 24)}`;
      this.#blocksCalls.push(id);
      const body = json({ name: beat.call, arguments: beat.args });
      yield { kind: "call", id, type: JSON_TYPE, step: this.#open(seed), body };
    } else if ("step" in beat) yield this.#close(beat.step, seed);
    else if ("result" in beat) {
      const answers = this.#waiting.shift();
      if (answers === undefined) throw new Error(`${this.#session.id}: a result without a call`);
      const { exit, truncated, fullOutput } = beat;
      yield {
        kind: "result",
        type: TEXT,
        for: answers,
        ...(exit === undefined ? {} : { exit }),
        ...(truncated ? { truncated } : {}),
        ...(fullOutput === undefined ? {} : { fullOutput }),
        body: text(beat.result),
      };
    } else if ("error" in beat) {
      this.#step = null;
      this.#blocksCalls = [];
      yield { kind: "error", type: TEXT, ...(beat.via === undefined ? {} : { via: beat.via }), body: text(beat.error) };
    }
  }

  get #provider(): string {
    return providerOf(this.#session.model);
  }

  /** Id of the step whose blocks are being written; everything before its first block is its context. */
  #open(seed: Seeded): string {
    this.#step ??= { id: seed.hex(8), upto: this.#n };
    return this.#step.id;
  }

  #close({ prompt, output }: { prompt: number; output: number }, seed: Seeded): Fields {
    const id = this.#open(seed);
    const upto = this.#step?.upto ?? this.#n;
    const cacheRead = Math.min(this.#prompt, prompt);
    const input = Math.min(4, prompt - cacheRead);
    const usage: Usage = { input, output, cacheRead, cacheWrite: prompt - cacheRead - input };
    this.#prompt = prompt;
    this.#waiting.push(...this.#blocksCalls);
    this.#blocksCalls = [];
    this.#step = null;
    const model = this.#session.model.slice(this.#provider.length + 1);
    const request = `sha256:${seed.hex(64)}`;
    return { kind: "step", id, provider: this.#provider, upto, model, harness: "v0.2.0", request, usage };
  }

  #write(fields: Fields, time: Date, seed: Seeded): void {
    const { body = Buffer.alloc(0), id = seed.hex(8), ...rest } = fields;
    this.#n += 1;
    const stamp = time.toISOString().replace(/\.?0+Z$/u, "Z");
    this.#pending.push(encode({ ...rest, n: this.#n, id, time: stamp, len: body.length, body }));
  }
}

function text(said: string): Buffer {
  return Buffer.from(said);
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
