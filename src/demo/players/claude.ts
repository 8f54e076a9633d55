import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Beat, Scenario, TimedBeat } from "../scenario.ts";
import { LETTERS, Seeded } from "../seeded.ts";
import { LinesFile } from "./lines-file.ts";
import type { PlayedSession, Player, Stage } from "./player.ts";
import { Pretended } from "./pretended.ts";

/** Sessions of Claude Code: `<dir>/claude/projects/<folder>/<id>.jsonl` and `sessions/<pid>.json` (agents.md §1). */
export const claudePlayer: Player = {
  source: "claude",
  root: (dir) => join(dir, "claude"),
  begin: (session, stage) => new ClaudeSession(session, stage, join(stage.dir, "claude")),
};

const VERSION = "2.1.332";

type Row = Record<string, unknown>;

class ClaudeSession implements PlayedSession {
  readonly #session: Scenario;
  readonly #root: string;
  readonly #file: LinesFile;
  readonly #seed: Seeded;
  readonly #program: Pretended;
  #parent: string | null = null;
  #blocks: Row[] = [];
  #waiting: { id: string; row: string }[] = [];
  #asked: Date | null = null;
  #prompt = 0;
  /** What the registry has to say after the next flush; null: nothing new. */
  #says: { busy: string; waitingFor?: string; at: Date } | "gone" | null = null;

  constructor(session: Scenario, stage: Stage, root: string) {
    this.#session = session;
    this.#root = root;
    this.#seed = new Seeded(session.id);
    const folder = session.cwd.replaceAll(/[^a-zA-Z0-9]/gu, "-");
    this.#file = new LinesFile(join(root, "projects", folder, `${session.id}.jsonl`));
    this.#program = new Pretended(session, stage, "claude");
  }

  play({ beat }: TimedBeat, time: Date): void {
    if ("message" in beat) this.#message(beat.message, time);
    else if ("thinking" in beat) {
      this.#blocks.push({ type: "thinking", thinking: beat.thinking, signature: this.#seed.from(LETTERS, 80) });
    } else if ("text" in beat) this.#blocks.push({ type: "text", text: beat.text });
    else if ("call" in beat) {
      const id = `toolu_01${this.#seed.from(LETTERS, 22)}`;
      this.#blocks.push({ type: "tool_use", id, name: beat.call, input: beat.args });
    } else if ("step" in beat) this.#reply(beat.step, time);
    else if ("result" in beat) this.#result(beat, time);
    else if ("error" in beat) this.#error(beat.error, beat.via !== undefined, time);
    else if ("process" in beat) this.#process(beat.process, time);
  }

  async flush(backdate: Date | null): Promise<void> {
    await this.#file.flush(backdate);
    const says = this.#says;
    this.#says = null;
    if (says === null) return;
    const { pid, startTicks, cwd } = this.#program.row;
    const path = join(this.#root, "sessions", `${pid}.json`);
    if (says === "gone") return rm(path, { force: true });
    await mkdir(join(this.#root, "sessions"), { recursive: true, mode: 0o700 });
    const at = says.at.getTime();
    const registered = {
      ...{ pid, sessionId: this.#session.id, cwd, startedAt: at, procStart: startTicks, version: VERSION },
      ...{ kind: "interactive", entrypoint: "cli", status: says.busy, waitingFor: says.waitingFor },
      ...{ updatedAt: at, statusUpdatedAt: at },
    };
    await writeFile(`${path}.new`, JSON.stringify(registered));
    await rename(`${path}.new`, path);
  }

  #message(said: string, time: Date): void {
    const first = this.#parent === null;
    this.#row("user", time, {
      message: { role: "user", content: said },
      permissionMode: "default",
      origin: { kind: "human" },
      promptSource: "typed",
    });
    if (first && this.#session.name !== undefined) {
      this.#file.addJson({ type: "ai-title", aiTitle: this.#session.name, sessionId: this.#session.id });
    }
    this.#asked = time;
    this.#tell("busy", time);
  }

  /** One row a block, all with the message's id and its whole usage, as this version writes them. */
  #reply({ prompt, output }: { prompt: number; output: number }, time: Date): void {
    const cacheRead = Math.min(this.#prompt, prompt);
    const input = Math.min(4, prompt - cacheRead);
    const cacheWrite = prompt - cacheRead - input;
    this.#prompt = prompt;
    const calls = this.#blocks.filter((block) => block.type === "tool_use");
    const message = {
      ...{ id: `msg_01${this.#seed.from(LETTERS, 22)}`, type: "message", role: "assistant", model: this.#model },
      ...{ stop_reason: calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null },
      usage: {
        ...{ input_tokens: input, cache_creation_input_tokens: cacheWrite, cache_read_input_tokens: cacheRead },
        ...{ output_tokens: output, service_tier: "standard" },
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: cacheWrite },
      },
    };
    const requestId = `req_011${this.#seed.from(LETTERS, 21)}`;
    for (const block of this.#blocks) {
      const uuid = this.#row("assistant", time, { message: { ...message, content: [block] }, requestId });
      if (typeof block.id === "string") this.#waiting.push({ id: block.id, row: uuid });
    }
    this.#blocks = [];
    if (calls.length === 0) this.#over(time);
  }

  #over(time: Date): void {
    const durationMs = this.#asked === null ? 0 : time.getTime() - this.#asked.getTime();
    this.#row("system", time, { subtype: "turn_duration", durationMs, isMeta: false });
    this.#tell("idle", time);
  }

  #result(beat: Extract<Beat, { result: string }>, time: Date): void {
    const answers = this.#waiting.shift();
    if (answers === undefined) throw new Error(`${this.#session.id}: a result without a call`);
    const failed = beat.exit !== undefined && beat.exit !== 0;
    const content = {
      tool_use_id: answers.id,
      type: "tool_result",
      content: beat.result,
      ...(failed ? { is_error: true } : {}),
    };
    const toolUseResult = failed ? `Error: ${beat.result}` : { stdout: beat.result, stderr: "", interrupted: false };
    const message = { role: "user", content: [content] };
    this.#row("user", time, { message, toolUseResult, sourceToolAssistantUUID: answers.row });
    this.#tell("busy", time);
  }

  #error(words: string, byPerson: boolean, time: Date): void {
    this.#blocks = [];
    if (byPerson) {
      this.#row("user", time, {
        message: { role: "user", content: [{ type: "text", text: "[Request interrupted by user]" }] },
      });
    } else {
      const content = [{ type: "text", text: words }];
      const message = { id: this.#seed.uuid(), type: "message", role: "assistant", model: "<synthetic>", content };
      this.#row("assistant", time, {
        message: { ...message, stop_reason: "stop_sequence", usage: NO_USAGE },
        isApiErrorMessage: true,
      });
    }
    this.#tell("idle", time);
  }

  #process(state: "busy" | "asking" | "waiting" | "gone", time: Date): void {
    if (state === "gone") {
      this.#program.end();
      this.#says = "gone";
      return;
    }
    this.#program.begin();
    if (state === "asking") this.#says = { busy: "waiting", waitingFor: "permission prompt", at: time };
    else this.#says = { busy: state === "busy" ? "busy" : "idle", at: time };
  }

  #tell(busy: string, at: Date): void {
    if (this.#program.runs) this.#says = { busy, at };
  }

  get #model(): string {
    return this.#session.model.slice(this.#session.model.indexOf("/") + 1);
  }

  /** A row of the chain; returns its uuid. */
  #row(type: string, time: Date, rest: Row): string {
    const uuid = this.#seed.uuid();
    const { cwd, id } = this.#session;
    this.#file.addJson({
      ...{ parentUuid: this.#parent, isSidechain: false, userType: "external", entrypoint: "cli", cwd, sessionId: id },
      ...{ version: VERSION, gitBranch: "main", type, uuid, timestamp: time.toISOString(), ...rest },
    });
    this.#parent = uuid;
    return uuid;
  }
}

const NO_USAGE = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
