import { join } from "node:path";
import { formatGoTime, localDate } from "../../sources/codebot/go-time.ts";
import { formatEntry, type Message, messageData, projectId, shortenThinking } from "../../sources/codebot/index.ts";
import type { Beat, Scenario, TimedBeat } from "../scenario.ts";
import { LETTERS, Seeded } from "../seeded.ts";
import { LinesFile } from "./lines-file.ts";
import type { PlayedSession, Player, Stage } from "./player.ts";
import { Pretended } from "./pretended.ts";

/** Sessions of codebot: `<dir>/codebot/projects/<project>/<date>_<id>.jsonl` (codebot.md §2). */
export const codebotPlayer: Player = {
  source: "codebot",
  root: (dir) => join(dir, "codebot"),
  begin: (session, stage) => new CodebotSession(session, stage, join(stage.dir, "codebot")),
};

class CodebotSession implements PlayedSession {
  readonly #session: Scenario;
  readonly #root: string;
  readonly #seed: Seeded;
  readonly #program: Pretended;
  #file: LinesFile | null = null;
  #parent = "";
  #blocks: NonNullable<Message["content"]> = [];
  #calls: { id: string; name: string }[] = [];
  #waiting: { id: string; name: string }[] = [];
  #prompt = 0;
  #named = false;

  constructor(session: Scenario, stage: Stage, root: string) {
    this.#session = session;
    this.#root = root;
    this.#seed = new Seeded(session.id);
    this.#program = new Pretended(session, stage, "codebot");
  }

  play({ beat }: TimedBeat, time: Date): void {
    if ("process" in beat) {
      if (beat.process === "gone") this.#program.end();
      else this.#program.begin();
    } else if ("message" in beat) {
      this.#message({ role: "user", content: [{ type: "text", text: beat.message }] }, time);
    } else if ("thinking" in beat) this.#blocks.push({ type: "thinking", thinking: beat.thinking });
    else if ("text" in beat) this.#blocks.push({ type: "text", text: beat.text });
    else if ("call" in beat) {
      const call = { id: `toolu_${this.#seed.from(LETTERS, 24)}`, name: beat.call };
      this.#calls.push(call);
      this.#blocks.push({ type: "toolCall", tool_call: { ...call, args: beat.args } });
    } else if ("step" in beat) this.#reply(beat.step, time);
    else if ("result" in beat) this.#result(beat, time);
    else if ("error" in beat) this.#stopped(beat.error, beat.via !== undefined, time);
  }

  async flush(backdate: Date | null): Promise<void> {
    await this.#file?.flush(backdate);
  }

  #reply({ prompt, output }: { prompt: number; output: number }, time: Date): void {
    const stop = this.#calls.length > 0 ? "toolUse" : "stop";
    const cacheRead = Math.min(this.#prompt, prompt);
    const cacheWrite = Math.max(0, prompt - cacheRead - 4);
    this.#prompt = prompt;
    const { provider, model } = this.#model;
    // This tool's input contains what was read from the cache, and not what was written to it.
    const counts = { input: prompt - cacheWrite, output, cache_read: cacheRead, cache_write: cacheWrite };
    const total = { total_tokens: prompt + output };
    const usage = { provider, model, ...counts, ...total };
    this.#message({ role: "assistant", content: this.#blocks, stop_reason: stop, usage }, time);
    this.#entry(
      "llm_call",
      {
        ...{ provider, model, input_tokens: counts.input, output_tokens: output, cache_read_tokens: cacheRead },
        ...{ cache_creation_tokens: cacheWrite, ...total, latency_ms: 2000 + this.#seed.below(9000) },
        ...{ stop_reason: stop, reasoning_effort: "medium" },
      },
      time,
    );
    if (!this.#named && this.#session.name !== undefined)
      this.#entry("session_info", { name: this.#session.name }, time);
    this.#named = true;
    this.#waiting.push(...this.#calls);
    this.#calls = [];
    this.#blocks = [];
  }

  #result(beat: Extract<Beat, { result: string }>, time: Date): void {
    const answers = this.#waiting.shift();
    if (answers === undefined) throw new Error(`${this.#session.id}: a result without a call`);
    const failed = beat.exit !== undefined && beat.exit !== 0;
    const metadata = { is_error: failed, tool_call_id: answers.id, tool_name: answers.name };
    this.#message({ role: "tool", content: [{ type: "text", text: beat.result }], metadata }, time);
  }

  #stopped(words: string, byPerson: boolean, time: Date): void {
    const content = [...this.#blocks, { type: "text", text: words }];
    this.#message({ role: "assistant", content, stop_reason: byPerson ? "aborted" : "error" }, time);
    this.#blocks = [];
    this.#calls = [];
    this.#waiting = [];
  }

  get #model(): { provider: string; model: string } {
    const [provider = "", ...model] = this.#session.model.split("/");
    return { provider, model: model.join("/") };
  }

  #message(message: Message, time: Date): void {
    const timestamp = formatGoTime(time.getTime());
    this.#entry("message", messageData(shortenThinking({ ...message, timestamp })), time);
  }

  #entry(kind: string, data: unknown, time: Date): void {
    const timestamp = formatGoTime(time.getTime());
    const { id: session_id, cwd } = this.#session;
    if (this.#file === null) {
      const name = `${localDate(time.getTime())}_${session_id}.jsonl`;
      this.#file = new LinesFile(join(this.#root, "projects", projectId(cwd), name));
      const header = { version: 3, session_id, cwd, created: timestamp };
      this.#file.add(formatEntry({ kind: "header", id: "h0", parentId: "", timestamp, data: header }));
      this.#parent = "h0";
    }
    const id = this.#seed.hex(8);
    this.#file.add(formatEntry({ kind, id, parentId: this.#parent, timestamp, data }));
    this.#parent = id;
  }
}
