import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runTmux, type TmuxResult } from "../../probe/tmux.ts";
import { cleanLine, cleanText } from "../../session/untrusted.ts";
import { isValidPartyID } from "./ids.ts";

const TMUX_TIMEOUT_MS = 3000;
/** A pane that scrolls or chooses would swallow the keys (questmaster.md §11). */
const MODE_WAIT_MS = 2000;
const MODE_POLL_MS = 100;
/** Between the text and Enter, so that the agent has taken the text. */
const BEFORE_ENTER_MS = 15;
/** Longer text, or text of several lines, goes through a file. */
const MOST_TYPED_BYTES = 200;

/** Talking to a session's agent could not be done. The message says what to do. */
class CannotTalk extends Error {
  override name = "CannotTalk";
}

/** Types a message into the pane of the session's leading agent. Only tmux is needed. Returns what was done. */
export async function relay(id: string, text: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const target = await primaryTarget(id, env);
  const sender = env.QUESTMASTER_SESSION || env.PARTY_SESSION;
  const prefix = sender && isValidPartyID(sender) ? `[FROM:${sender}] ` : "";
  const message = cleanText(text).trim();
  if (message === "") throw new CannotTalk("there is nothing to send: write a message first");
  const done: string[] = [];
  let typed = prefix + message;
  if (Buffer.byteLength(typed) > MOST_TYPED_BYTES || typed.includes("\n")) {
    const file = join(tmpdir(), `qm-relay-${randomBytes(6).toString("hex")}.md`);
    await writeFile(file, `${message}\n`, { mode: 0o600, flag: "wx" });
    done.push(`wrote the text to ${file}`);
    typed = `${prefix}A message for you is in ${file}: read it and act on it.`;
  }
  await untilOutOfMode(target, env);
  await must(["send-keys", "-t", target, "-l", "--", typed], env);
  await sleep(BEFORE_ENTER_MS);
  await must(["send-keys", "-t", target, "Enter"], env);
  return [...done, `sent it to ${id}`];
}

/** The last lines of the leading agent's screen, cleaned. */
export async function readScreen(id: string, lines: number, env: NodeJS.ProcessEnv): Promise<string[]> {
  const target = await primaryTarget(id, env);
  const shown = await must(["capture-pane", "-t", target, "-p", "-S", `-${lines}`], env);
  const all = cleanText(shown.stdout).split("\n");
  while (all.length > 0 && all.at(-1)?.trim() === "") all.pop();
  return all.slice(-lines);
}

/** `=<id>:<window>.<pane>`: exact, because a plain name also means a live session it is a prefix of (questmaster.md §11). */
async function primaryTarget(id: string, env: NodeJS.ProcessEnv): Promise<string> {
  if (!isValidPartyID(id)) throw new CannotTalk(`not a session id: ${cleanLine(id)}`);
  const format = "#{window_index}\t#{pane_index}\t#{pane_dead}\t#{@party_role}";
  // With the colon: without it tmux 3.3a takes the name for a window's, and falls back to whatever session is current.
  const listed = await tmux(["list-panes", "-s", "-t", `=${id}:`, "-F", format], env);
  if (listed.code !== 0) throw new CannotTalk(`there is no tmux session ${id}: continue it first`);
  const panes = listed.stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [window, pane, dead, role] = line.split("\t");
      return { window: Number(window), pane: Number(pane), dead: dead === "1", role: role ?? "" };
    })
    .sort((a, b) => a.window - b.window || a.pane - b.pane);
  const leading = panes.find((one) => one.role === "primary") ?? (panes.length === 1 ? panes[0] : undefined);
  if (leading === undefined) throw new CannotTalk(`no pane of ${id} has the role primary: go to it and type there`);
  if (leading.dead) throw new CannotTalk(`the agent of ${id} has exited: continue it first`);
  return `=${id}:${leading.window}.${leading.pane}`;
}

async function untilOutOfMode(target: string, env: NodeJS.ProcessEnv): Promise<void> {
  const deadline = performance.now() + MODE_WAIT_MS;
  for (;;) {
    const { stdout } = await must(["display-message", "-p", "-t", target, "#{pane_in_mode}"], env);
    if (stdout.trim() === "0" || stdout.trim() === "") return;
    if (performance.now() > deadline) {
      throw new CannotTalk(`the pane ${target} is scrolled back or choosing: leave that with q, then send again`);
    }
    await sleep(MODE_POLL_MS);
  }
}

async function must(args: string[], env: NodeJS.ProcessEnv): Promise<TmuxResult> {
  const result = await tmux(args, env);
  if (result.code !== 0) throw new CannotTalk(`tmux ${args[0]} failed: ${cleanLine(result.stderr) || result.code}`);
  return result;
}

async function tmux(args: string[], env: NodeJS.ProcessEnv): Promise<TmuxResult> {
  try {
    return await runTmux(args, TMUX_TIMEOUT_MS, env);
  } catch (error) {
    throw new CannotTalk(error instanceof Error ? error.message : String(error));
  }
}
