import { mkdir, rename, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { callSummary } from "../../session/call-summary.ts";
import { titleLine } from "../../session/untrusted.ts";
import {
  manifestPath,
  manifestText,
  newManifest,
  newPaneState,
  newSessionState,
  nowUTC,
  type PaneState,
  type SessionState,
  sessionStateDir,
  sessionStateLogPath,
  sessionStatePath,
  sessionStateText,
  stateEventLine,
} from "../../sources/questmaster/index.ts";
import type { Scenario, TimedBeat } from "../scenario.ts";
import { Seeded } from "../seeded.ts";
import { LinesFile } from "./lines-file.ts";
import type { PlayedSession, Player } from "./player.ts";

/**
 * Sessions of questmaster: `<dir>/questmaster/<id>.json` and what its hooks write below `<id>/` (questmaster.md §5–§7). No
 * tmux session is made for them, so all of them are stopped.
 */
export const questmasterPlayer: Player = {
  source: "questmaster",
  root: (dir) => join(dir, "questmaster"),
  begin: (session, { dir }) => new QuestmasterSession(session, join(dir, "questmaster")),
};

const ROLE = "primary";
const AGENT = "claude";
/** Longest activity that the hooks write. */
const MOST_ACTIVITY = 64;

class QuestmasterSession implements PlayedSession {
  readonly #session: Scenario;
  readonly #root: string;
  readonly #log: LinesFile;
  readonly #resumeID: string;
  readonly #state: SessionState;
  readonly #pane: PaneState = newPaneState(ROLE, AGENT);
  #began: Date | null = null;
  #said = "";
  #calls = 0;

  constructor(session: Scenario, root: string) {
    this.#session = session;
    this.#root = root;
    this.#log = new LinesFile(sessionStateLogPath(root, session.id));
    this.#resumeID = new Seeded(session.id).uuid();
    this.#state = newSessionState(session.id);
    this.#state.panes.set(ROLE, this.#pane);
  }

  play({ beat }: TimedBeat, time: Date): void {
    this.#began ??= time;
    if ("message" in beat) {
      this.#event(time, "working", "working", `You: ${titleLine(beat.message)}`, "UserPromptSubmit");
    } else if ("call" in beat) {
      this.#calls += 1;
      this.#event(time, "tool_start", "working", callSummary(`${beat.call}:`, beat.args), "PreToolUse", beat.call);
    } else if ("result" in beat) this.#event(time, "tool_end", "working", "", "PostToolUse");
    else if ("text" in beat) this.#said = beat.text;
    else if ("step" in beat) {
      if (this.#calls === 0) this.#event(time, "done", "done", titleLine(this.#said), "Stop");
      this.#calls = 0;
    }
  }

  async flush(backdate: Date | null): Promise<void> {
    if (this.#began === null) return;
    const { id, name = id, cwd } = this.#session;
    const agent = { name: AGENT, role: ROLE, cli: `/usr/local/bin/${AGENT}`, resumeID: this.#resumeID, window: 0 };
    const manifest = newManifest(id, {
      ...{ createdAt: nowUTC(this.#began.getTime()), updatedAt: nowUTC(this.#began.getTime()), title: name, cwd },
      ...{ windowName: `questmaster (${name})`, agents: [{ ...agent, extra: new Map() }] },
    });
    await mkdir(sessionStateDir(this.#root, id), { recursive: true });
    await this.#log.flush(backdate);
    const files = [
      [manifestPath(this.#root, id), manifestText(manifest)],
      [sessionStatePath(this.#root, id), sessionStateText(this.#state)],
    ] as const;
    for (const [path, text] of files) {
      const temporary = join(sessionStateDir(this.#root, id), `.${basename(path)}.tmp`);
      await writeFile(temporary, text);
      await rename(temporary, path);
      if (backdate !== null) await utimes(path, backdate, backdate);
    }
  }

  #event(time: Date, action: string, state: string, said: string, kind: string, tool = ""): void {
    const ts = nowUTC(time.getTime());
    const activity = said === "" ? this.#pane.activity : Array.from(said).slice(0, MOST_ACTIVITY).join("");
    this.#log.add(stateEventLine({ ts, agent: AGENT, role: ROLE, action, state, activity, tool, kind }));
    Object.assign(this.#pane, { state, activity, tool, lastEvent: ts, lastKind: kind });
    this.#pane.seq = BigInt(time.getTime()) * 1_000_000n;
    this.#pane.workingSince = state === "working" ? ts : null;
    this.#state.seenAt = ts;
  }
}
