import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export type Row = Record<string, unknown>;

/** A UUIDv7 of this moment; `n` tells two of one moment apart. */
export function uuid7(time: string, n = 0): string {
  const hex = Date.parse(time).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${n.toString(16).padStart(12, "0")}`;
}

/** Writes a rollout as codex would, one line a second. */
export class Rollout {
  readonly id: string;
  readonly rows: Row[] = [];
  readonly paginated: boolean;
  readonly startedAt: string;
  readonly rollout: string | null;
  #clock: number;
  #ordinal: number;
  #turn = "";
  #turns = 0;

  constructor(
    startedAt: string,
    options: { paginated?: boolean; meta?: Row; n?: number; id?: string; rollout?: string; ordinal?: number } = {},
  ) {
    this.startedAt = startedAt;
    this.paginated = options.paginated ?? true;
    this.id = options.id ?? uuid7(startedAt, options.n ?? 0);
    this.rollout = options.rollout ?? null;
    this.#clock = Date.parse(startedAt) - 1000;
    this.#ordinal = options.ordinal ?? 0;
    const paged = this.paginated ? { session_id: this.id, history_mode: "paginated", thread_source: "user" } : {};
    this.line("session_meta", {
      id: this.id,
      timestamp: startedAt,
      cwd: "/work/pot",
      source: "cli",
      cli_version: "0.163.0",
      model_provider: "openai",
      ...paged,
      ...options.meta,
    });
  }

  raw(row: Row): this {
    this.rows.push(row);
    return this;
  }

  line(type: string, payload: Row): this {
    this.#clock += 1000;
    const ordinal = this.paginated ? { ordinal: this.#ordinal } : {};
    this.#ordinal += 1;
    this.rows.push({ timestamp: new Date(this.#clock).toISOString(), ...ordinal, type, payload });
    return this;
  }

  event(type: string, over: Row = {}): this {
    return this.line("event_msg", { type, ...over });
  }

  /** Begins a turn: its task, its settings, the prompt in both families. */
  prompt(text: string, over: { model?: string; approval?: string } = {}): this {
    this.#turns += 1;
    this.#turn = uuid7(new Date(this.#clock + 1000).toISOString(), this.#turns);
    this.event("task_started", { turn_id: this.#turn, model_context_window: 258_400 });
    const { model = "gpt-5.3-codex", approval = "on-request" } = over;
    this.line("turn_context", { turn_id: this.#turn, cwd: "/work/pot", model, approval_policy: approval });
    this.message("user", text);
    if (!this.paginated) return this.event("user_message", { message: text });
    const item = { type: "UserMessage", id: `u${this.#turns}`, content: [{ type: "text", text }] };
    return this.event("item_completed", { thread_id: this.id, turn_id: this.#turn, item });
  }

  message(role: string, text: string): this {
    const type = role === "assistant" ? "output_text" : "input_text";
    return this.line("response_item", { type: "message", role, content: [{ type, text }] });
  }

  reply(text: string): this {
    this.message("assistant", text);
    if (!this.paginated) return this.event("agent_message", { message: text });
    const item = { type: "AgentMessage", id: `a${this.rows.length}`, content: [{ type: "Text", text }] };
    return this.event("item_completed", { thread_id: this.id, turn_id: this.#turn, item });
  }

  call(id: string, args: Row = { cmd: "ls" }, name = "exec_command"): this {
    return this.line("response_item", { type: "function_call", name, arguments: JSON.stringify(args), call_id: id });
  }

  result(id: string, output = "ok"): this {
    return this.line("response_item", { type: "function_call_output", call_id: id, output });
  }

  record(id: string, input: number, output: number, cached = 0): this {
    return this.line("token_usage_record", {
      thread_id: this.id,
      response_id: id,
      usage: usage(input, output, cached),
    });
  }

  total(total: [number, number, number?], last: [number, number, number?] = total): this {
    return this.event("token_count", {
      info: { total_token_usage: usage(...total), last_token_usage: usage(...last), model_context_window: 258_400 },
    });
  }

  done(error?: string): this {
    return this.event("task_complete", {
      turn_id: this.#turn,
      ...(error === undefined ? {} : { error: { message: error } }),
    });
  }

  text(): string {
    return this.rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  }

  get name(): string {
    const time = this.startedAt.slice(0, 19).replaceAll(":", "-");
    return `rollout-${time}-${this.id}${this.rollout === null ? "" : `_${this.rollout}`}.jsonl`;
  }

  path(root: string): string {
    const [year = "", month = "", day = ""] = this.startedAt.slice(0, 10).split("-");
    return join(root, "sessions", year, month, day, this.name);
  }

  write(root: string): string {
    const path = this.path(root);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, this.text());
    return path;
  }
}

function usage(input: number, output: number, cached = 0): Row {
  return {
    input_tokens: input,
    cached_input_tokens: cached,
    output_tokens: output,
    reasoning_output_tokens: 0,
    total_tokens: input + output,
  };
}

export function append(path: string, rows: readonly Row[]): void {
  appendFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}
