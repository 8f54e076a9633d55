import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Beat, Scenario, TimedBeat } from "../scenario.ts";
import { LETTERS, Seeded } from "../seeded.ts";
import { LinesFile } from "./lines-file.ts";
import type { PlayedSession, Player, Stage } from "./player.ts";
import { Pretended } from "./pretended.ts";

/** Sessions of Codex: `<dir>/codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, paginated (agents.md §2). */
export const codexPlayer: Player = {
  source: "codex",
  root: (dir) => join(dir, "codex"),
  begin: (session, stage) => new CodexSession(session, stage, join(stage.dir, "codex")),
};

type Payload = Record<string, unknown>;

interface Tokens {
  input: number;
  cached: number;
  output: number;
  reasoning: number;
}

class CodexSession implements PlayedSession {
  readonly #session: Scenario;
  readonly #root: string;
  readonly #seed: Seeded;
  readonly #program: Pretended;
  #file: LinesFile | null = null;
  #ordinal = 0;
  #turn: string | null = null;
  #calls: string[] = [];
  #lastSaid: string | null = null;
  #prompt = 0;
  #thread: Tokens = { input: 0, cached: 0, output: 0, reasoning: 0 };
  #inTurn: Tokens = { input: 0, cached: 0, output: 0, reasoning: 0 };

  constructor(session: Scenario, stage: Stage, root: string) {
    this.#session = session;
    this.#root = root;
    this.#seed = new Seeded(session.id);
    this.#program = new Pretended(session, stage, "codex");
  }

  play({ beat }: TimedBeat, time: Date): void {
    if ("process" in beat) this.#process(beat.process);
    else if ("message" in beat) this.#message(beat.message, time);
    else if ("thinking" in beat) {
      const id = `rs_${this.#seed.hex(24)}`;
      const summary = [{ type: "summary_text", text: beat.thinking }];
      this.#line(time, "response_item", {
        type: "reasoning",
        id,
        summary,
        encrypted_content: this.#seed.from(LETTERS, 80),
      });
      this.#item(time, { type: "Reasoning", id, summary_text: [beat.thinking], raw_content: [] });
    } else if ("text" in beat) this.#say(beat.text, time);
    else if ("call" in beat) {
      const id = `call_${this.#seed.from(LETTERS, 24)}`;
      this.#calls.push(id);
      const call = { type: "function_call", id: `fc_${this.#seed.hex(24)}`, name: beat.call, call_id: id };
      this.#line(time, "response_item", { ...call, arguments: JSON.stringify(beat.args) });
    } else if ("step" in beat) this.#reply(beat.step, time);
    else if ("result" in beat) this.#result(beat, time);
    else if ("error" in beat) this.#error(beat.error, beat.via !== undefined, time);
  }

  async flush(backdate: Date | null): Promise<void> {
    await this.#file?.flush(backdate);
    const [lock] = this.#program.row.locksHeld;
    if (lock === undefined) return;
    await mkdir(dirname(lock), { recursive: true });
    await writeFile(lock, "");
  }

  #message(said: string, time: Date): void {
    const { id, cwd, limit } = this.#session;
    if (this.#file === null) {
      this.#file = new LinesFile(join(this.#root, "sessions", rolloutPath(id, time)));
      this.#line(time, "session_meta", {
        ...{
          session_id: id,
          id,
          timestamp: time.toISOString(),
          cwd,
          originator: "codex_cli_rs",
          cli_version: "0.163.0",
        },
        ...{ source: "cli", thread_source: "user", model_provider: "openai", base_instructions: { text: "" } },
        ...{ history_mode: "paginated", git: { commit_hash: this.#seed.hex(40), branch: "main" } },
      });
    }
    const turn = this.#seed.uuid().replace(/^(.{14})4/u, "$17");
    this.#turn = turn;
    this.#inTurn = { input: 0, cached: 0, output: 0, reasoning: 0 };
    const started = { type: "task_started", turn_id: turn, started_at: Math.floor(time.getTime() / 1000) };
    this.#line(time, "event_msg", { ...started, model_context_window: limit });
    this.#line(time, "turn_context", {
      ...{ turn_id: turn, cwd, approval_policy: "on-request", sandbox_policy: { type: "workspace-write" } },
      ...{ model: this.#model, effort: "medium", summary: "auto" },
    });
    this.#line(time, "response_item", { type: "message", role: "user", content: [{ type: "input_text", text: said }] });
    const content = [{ type: "text", text: said, text_elements: [] }];
    this.#item(time, { type: "UserMessage", id: this.#seed.uuid(), content });
  }

  #say(text: string, time: Date): void {
    this.#lastSaid = text;
    this.#item(time, { type: "AgentMessage", id: `msg_${this.#seed.hex(24)}`, content: [{ type: "Text", text }] });
    const content = [{ type: "output_text", text }];
    this.#line(time, "response_item", { type: "message", role: "assistant", content });
  }

  #reply({ prompt, output }: { prompt: number; output: number }, time: Date): void {
    const used = { input: prompt, cached: Math.min(this.#prompt, prompt), output, reasoning: Math.floor(output / 3) };
    this.#prompt = prompt;
    this.#thread = sum(this.#thread, used);
    this.#inTurn = sum(this.#inTurn, used);
    this.#line(time, "token_usage_record", {
      ...{ thread_id: this.#session.id, turn_id: this.#turn, session_id: this.#session.id },
      ...{ response_id: `resp_${this.#seed.hex(32)}`, usage: usageOf(used) },
      ...{ turn_token_usage: usageOf(this.#inTurn), thread_token_usage: usageOf(this.#thread) },
    });
    const info = { total_token_usage: usageOf(this.#thread), last_token_usage: usageOf(used) };
    const window = { model_context_window: this.#session.limit };
    this.#line(time, "event_msg", { type: "token_count", info: { ...info, ...window }, rate_limits: null });
    if (this.#calls.length > 0) return;
    this.#line(time, "event_msg", { type: "task_complete", turn_id: this.#turn, last_agent_message: this.#lastSaid });
  }

  #result(beat: Extract<Beat, { result: string }>, time: Date): void {
    const id = this.#calls.shift();
    if (id === undefined) throw new Error(`${this.#session.id}: a result without a call`);
    const exit = beat.exit ?? 0;
    const done = { status: exit === 0 ? "completed" : "failed", aggregated_output: beat.result, exit_code: exit };
    this.#item(time, { type: "CommandExecution", id, command: ["bash", "-lc", "…"], ...done });
    this.#line(time, "response_item", { type: "function_call_output", call_id: id, output: beat.result });
  }

  #error(words: string, byPerson: boolean, time: Date): void {
    this.#calls = [];
    const turn_id = this.#turn;
    if (byPerson) this.#line(time, "event_msg", { type: "turn_aborted", turn_id, reason: "interrupted" });
    else {
      const error = { message: words, codex_error_info: "other" };
      this.#line(time, "event_msg", { type: "task_complete", turn_id, last_agent_message: null, error });
    }
  }

  /** A running codex holds a lock on its thread; that is all it shows of itself. */
  #process(state: "busy" | "asking" | "waiting" | "gone"): void {
    this.#program.row.locksHeld =
      state === "gone" ? [] : [join(this.#root, "thread-writer-locks", `${this.#session.id}.lock`)];
    if (state === "gone") this.#program.end();
    else this.#program.begin();
  }

  get #model(): string {
    return this.#session.model.slice(this.#session.model.indexOf("/") + 1);
  }

  #item(time: Date, item: Payload): void {
    this.#line(time, "event_msg", { type: "item_completed", thread_id: this.#session.id, turn_id: this.#turn, item });
  }

  #line(time: Date, type: string, payload: Payload): void {
    this.#file?.addJson({ timestamp: time.toISOString(), ordinal: this.#ordinal, type, payload });
    this.#ordinal += 1;
  }
}

/** Folders and name are in local time. */
function rolloutPath(id: string, time: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const [year, month, day] = [String(time.getFullYear()), two(time.getMonth() + 1), two(time.getDate())];
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join("-");
  return join(year, month, day, `rollout-${year}-${month}-${day}T${clock}-${id}.jsonl`);
}

function sum(a: Tokens, b: Tokens): Tokens {
  return {
    input: a.input + b.input,
    cached: a.cached + b.cached,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
  };
}

function usageOf({ input, cached, output, reasoning }: Tokens): Payload {
  return {
    input_tokens: input,
    cached_input_tokens: cached,
    cache_write_input_tokens: 0,
    output_tokens: output,
    reasoning_output_tokens: reasoning,
    total_tokens: input + output,
  };
}
