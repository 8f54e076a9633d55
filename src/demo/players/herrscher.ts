import { mkdir, rename, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { blankTranscriptEntry, formatTranscriptLine, transcriptPath } from "../../sources/herrscher/index.ts";
import type { Scenario, TimedBeat } from "../scenario.ts";
import { Seeded } from "../seeded.ts";
import { LinesFile } from "./lines-file.ts";
import type { PlayedSession, Player, Stage } from "./player.ts";

/** Sessions of herrscher: a row in `<dir>/herrscher/state.json` and `transcripts/<name>.jsonl` (herrscher.md §2, §3). */
export const herrscherPlayer: Player = {
  source: "herrscher",
  root: (dir) => join(dir, "herrscher"),
  begin(session, stage) {
    let state = states.get(stage);
    if (state === undefined) {
      state = new StateFile(join(stage.dir, "herrscher"));
      states.set(stage, state);
    }
    return new HerrscherSession(session, state);
  },
};

type Row = Record<string, unknown>;

/** The one file that all sessions of a root share. */
class StateFile {
  readonly dir: string;
  readonly rows = new Map<string, Row>();
  #turn: Promise<void> = Promise.resolve();

  constructor(dir: string) {
    this.dir = dir;
  }

  /** Replaced whole, as the daemon does it; one writer at a time. */
  write(): Promise<void> {
    this.#turn = this.#turn.then(async () => {
      await mkdir(this.dir, { recursive: true });
      const rows = [...this.rows.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
      const state = {
        home: { id: "forktail-demo", type: "terminal" },
        workspace: "/srv/code",
        instanceID: "forktail-demo",
        sessions: rows,
      };
      await writeFile(join(this.dir, "state.json.tmp"), `${JSON.stringify(state, null, 2)}\n`);
      await rename(join(this.dir, "state.json.tmp"), join(this.dir, "state.json"));
    });
    return this.#turn;
  }
}

const states = new WeakMap<Stage, StateFile>();

/** US dollars for a million tokens: enough to make believable costs of. */
const PRICE = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

class HerrscherSession implements PlayedSession {
  readonly #session: Scenario;
  readonly #state: StateFile;
  readonly #file: LinesFile;
  readonly #row: Row;
  #changed = true;
  #asked: Date | null = null;
  #said: string[] = [];
  #calls = 0;
  #prompt = 0;
  #spent = { cost: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

  constructor(session: Scenario, state: StateFile) {
    const seed = new Seeded(session.id);
    this.#session = session;
    this.#state = state;
    this.#file = new LinesFile(transcriptPath(state.dir, session.id));
    this.#row = {
      id: `s_${session.id}`,
      incarnation: `inc_${seed.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 26)}`,
      ...{ name: session.id, channelID: `terminal/forktail-demo__${session.id}-1`, type: "text" },
      ...{
        cmd: "claude",
        backend: "stream",
        vendor: "claude",
        dir: session.cwd,
        resumeToken: seed.uuid(),
        owned: true,
      },
      gateways: ["terminal"],
      ...(session.costCap === undefined ? {} : { cost_cap: session.costCap }),
    };
  }

  play({ beat }: TimedBeat, time: Date): void {
    if ("message" in beat) {
      this.#asked = time;
      this.#line({ role: "user", text: beat.message }, time);
    } else if ("text" in beat) this.#said.push(beat.text);
    else if ("call" in beat) this.#calls += 1;
    else if ("step" in beat) this.#step(beat.step, time);
    else if ("put" in beat) {
      if (beat.put === "archived") this.#row.archived = true;
      else this.#row.paused_reason = "cost";
      this.#changed = true;
    }
  }

  async flush(backdate: Date | null): Promise<void> {
    await this.#file.flush(backdate);
    if (!this.#changed) return;
    this.#changed = false;
    this.#state.rows.set(this.#session.id, this.#row);
    await this.#state.write();
    if (backdate !== null) await utimes(join(this.#state.dir, "state.json"), backdate, backdate).catch(() => undefined);
  }

  /** Only whole turns are written, with what all their steps cost. */
  #step({ prompt, output }: { prompt: number; output: number }, time: Date): void {
    const cacheRead = Math.min(this.#prompt, prompt);
    const input = Math.min(4, prompt - cacheRead);
    const cacheWrite = prompt - cacheRead - input;
    this.#prompt = prompt;
    const { cost, ...tokens } = this.#spent;
    const used = { input, output, cacheRead, cacheWrite };
    const price = (Object.keys(PRICE) as (keyof typeof PRICE)[]).reduce((sum, of) => sum + used[of] * PRICE[of], 0);
    this.#spent = {
      cost: cost + price / 1e6,
      input: tokens.input + input,
      output: tokens.output + output,
      cacheRead: tokens.cacheRead + cacheRead,
      cacheWrite: tokens.cacheWrite + cacheWrite,
    };
    const goesOn = this.#calls > 0;
    this.#calls = 0;
    if (goesOn) return;
    const { input: tokensIn, output: tokensOut, cacheWrite: cacheCreate } = this.#spent;
    const durMs = this.#asked === null ? 0 : time.getTime() - this.#asked.getTime();
    const counts = { tokensIn, tokensOut, cacheRead: this.#spent.cacheRead, cacheCreate, durMs };
    const turn = { role: "assistant", text: this.#said.join("\n\n"), cost: Math.round(this.#spent.cost * 1e4) / 1e4 };
    this.#line({ ...turn, ...counts }, time);
    this.#said = [];
    this.#spent = { cost: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  }

  #line(entry: Parameters<typeof blankTranscriptEntry>[0], time: Date): void {
    const ts = time.toISOString().replace(/\.\d+Z$/u, "Z");
    this.#file.add(formatTranscriptLine(blankTranscriptEntry({ ...entry, ts })));
  }
}
