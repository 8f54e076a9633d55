import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A UUID that is always the same for the same name. */
export function uuid(name: string): string {
  const hex = createHash("sha256").update(name).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}

export type Row = Record<string, unknown>;

/** Writes a conversation as Claude Code would, one row a second. */
export class Conversation {
  readonly id: string;
  readonly rows: Row[] = [];
  #clock: number;
  #leaf: string | null = null;

  constructor(name: string, startedAt = "2026-11-10T09:00:00.000Z") {
    this.id = uuid(name);
    this.#clock = Date.parse(startedAt);
  }

  get leaf(): string | null {
    return this.#leaf;
  }

  /** Goes on from an earlier row, as a rewind does. */
  rewindTo(row: string | null): this {
    this.#leaf = row;
    return this;
  }

  raw(row: Row): this {
    this.rows.push(row);
    return this;
  }

  row(type: string, name: string, over: Row): this {
    this.#clock += 1000;
    this.rows.push({
      parentUuid: this.#leaf,
      isSidechain: false,
      type,
      uuid: uuid(name),
      timestamp: new Date(this.#clock).toISOString(),
      cwd: "/work/pot",
      sessionId: this.id,
      version: "2.1.332",
      entrypoint: "cli",
      gitBranch: "main",
      ...over,
    });
    this.#leaf = uuid(name);
    return this;
  }

  prompt(name: string, text = name): this {
    return this.row("user", name, { message: { role: "user", content: text }, origin: { kind: "human" } });
  }

  reply(
    name: string,
    over: { id?: string; text?: string; stop?: string | null; usage?: Row; model?: string } = {},
  ): this {
    return this.assistant(name, [{ type: "text", text: over.text ?? name }], over);
  }

  call(name: string, tool = "Bash", input: Row = { command: "ls" }, over: { id?: string; usage?: Row } = {}): this {
    return this.assistant(name, [{ type: "tool_use", id: `toolu_${name}`, name: tool, input }], {
      stop: "tool_use",
      ...over,
    });
  }

  result(name: string, of: string, over: Row = {}): this {
    const content = [{ type: "tool_result", tool_use_id: `toolu_${of}`, content: name }];
    return this.row("user", name, { message: { role: "user", content }, ...over });
  }

  assistant(
    name: string,
    content: Row[],
    over: { id?: string; stop?: string | null; usage?: Row; model?: string } = {},
  ): this {
    const usage = over.usage ?? { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 100 };
    const stop = over.stop === undefined ? "end_turn" : over.stop;
    return this.row("assistant", name, {
      message: {
        id: over.id ?? `msg_${name}`,
        role: "assistant",
        model: over.model ?? "claude-sonnet-4-6",
        content,
        stop_reason: stop,
        usage,
      },
    });
  }

  text(): string {
    return this.rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  }

  path(root: string, project = "-work-pot"): string {
    return join(root, "projects", project, `${this.id}.jsonl`);
  }

  write(root: string, project = "-work-pot"): string {
    const path = this.path(root, project);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, this.text());
    return path;
  }
}

/** Adds rows to a file that is there. */
export function append(path: string, rows: readonly Row[]): void {
  appendFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}
