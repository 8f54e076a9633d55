import * as z from "zod";

/** Seconds between this beat and the one before it. */
const after = z.number().min(0).default(0);

/** One thing that happens in a session. Every player writes it the way its tool does. */
const beat = z.union([
  z.strictObject({ after, system: z.string(), source: z.enum(["harness", "agents", "workers"]).default("harness") }),
  /** The person writes. */
  z.strictObject({ after, message: z.string(), via: z.string().default("cli") }),
  z.strictObject({ after, thinking: z.string() }),
  z.strictObject({ after, text: z.string() }),
  z.strictObject({ after, call: z.string(), args: z.record(z.string(), z.json()) }),
  /** The model's turn is over: tokens of its whole prompt and of what it wrote. */
  z.strictObject({ after, step: z.strictObject({ prompt: z.number().int(), output: z.number().int() }) }),
  /** Answers the oldest call that has no result yet. */
  z.strictObject({
    after,
    result: z.string(),
    exit: z.number().int().optional(),
    truncated: z.boolean().default(false),
    fullOutput: z.string().optional(),
  }),
  /** The turn ends with an error. `via`: a person stopped it. */
  z.strictObject({ after, error: z.string(), via: z.string().optional() }),
  /** What the running program says of itself, where the tool keeps such a thing; `gone`: it has ended. */
  z.strictObject({ after, process: z.enum(["busy", "asking", "waiting", "gone"]) }),
  /** The person puts it away, or its budget stops it, where the tool has such a thing. */
  z.strictObject({ after, put: z.enum(["archived", "paused"]) }),
]);

const scenario = z.strictObject({
  source: z.string(),
  /** The session's id, in the form its tool gives ids. */
  id: z.string(),
  /** Seconds from the start of the story to the session's first record; negative: it is old. */
  begins: z.number(),
  /** `provider/model`. */
  model: z.string(),
  /** Tokens of context. */
  limit: z.number().int(),
  cwd: z.string(),
  workers: z.array(z.strictObject({ name: z.string(), drives: z.array(z.string()) })).default([]),
  /** A name the person or the tool gave it, where the tool keeps one. */
  name: z.string().optional(),
  /** US dollars it may cost, where the tool has budgets. */
  costCap: z.number().optional(),
  /** Begins as a copy of another session's first beats. */
  forkOf: z.strictObject({ id: z.string(), beats: z.number().int() }).optional(),
  beats: z.array(beat).min(1),
  /** After the last beat and a pause, plays again from this one on, so many times. Without it, the session rests. */
  repeat: z.strictObject({ from: z.number().int(), pause: z.number(), times: z.number().int() }).optional(),
});

export type Beat = z.output<typeof beat>;
export type Scenario = z.output<typeof scenario>;

/** One session of the demo as data. Throws an error that names what is wrong in it. */
export function parseScenario(data: unknown): Scenario {
  const parsed = scenario.safeParse(data);
  if (!parsed.success) throw new Error(`a demo session is not as it should be: ${z.prettifyError(parsed.error)}`);
  const { beats, repeat } = parsed.data;
  if (repeat !== undefined && repeat.from >= beats.length) throw new Error(`repeat.from ${repeat.from} is no beat`);
  return parsed.data;
}

export interface TimedBeat {
  /** When it happened, seconds from the start of the story. */
  at: number;
  /** When it gets into this session's file: later than `at` in the copied part of a fork. */
  due: number;
  beat: Beat;
  /** The session it was first written in: another one in the copied part of a fork. */
  of: string;
}

/** Every beat of a session with its time, the copied ones of a fork first, repetitions last. */
export function* timeline(one: Scenario, all: readonly Scenario[]): Generator<TimedBeat> {
  if (one.forkOf !== undefined) {
    const { id, beats } = one.forkOf;
    const parent = all.find((other) => other.id === id && other.source === one.source);
    if (parent === undefined) throw new Error(`${one.id} is a fork of ${id}, which is not there`);
    let left = beats;
    for (const timed of timeline(parent, all)) {
      if (left === 0) break;
      left -= 1;
      yield { ...timed, due: one.begins };
    }
  }
  let at = one.begins;
  for (const beat of one.beats) {
    at += beat.after;
    yield { at, due: at, beat, of: one.id };
  }
  if (one.repeat === undefined) return;
  for (let time = 0; time < one.repeat.times; time += 1) {
    for (const [i, beat] of one.beats.slice(one.repeat.from).entries()) {
      at += i === 0 ? one.repeat.pause : beat.after;
      yield { at, due: at, beat, of: one.id };
    }
  }
}
