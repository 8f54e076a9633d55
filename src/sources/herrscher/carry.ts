import { setTimeout as sleep } from "node:timers/promises";
import { runProgram } from "../../probe/program.ts";
import { cleanLine, cleanText } from "../../session/untrusted.ts";
import type { Order } from "./actions.ts";
import { type Channel, disabledReason, type Verb } from "./channel.ts";
import { CommandFailed, sendCommand } from "./command.ts";
import { refuseIfHeld } from "./held.ts";
import type { HerrscherRoot } from "./root.ts";
import type { RowFacts } from "./row.ts";
import { readStateFile, type StateContent } from "./state-file.ts";

/** Commands are served one at a time: a list may have to wait for somebody else's. */
const ASKING_MS = { connectMs: 500, answerMs: 10_000 };
/** How long the state file may take to show what was done. */
const SHOWN_MS = 3000;

/**
 * Gives one order: asks first who is behind the socket and sends nothing unless it is this root's daemon and knows
 * this very session; then checks by reading the state file again (herrscher.md §7, §9).
 */
export async function carryOut(root: HerrscherRoot, facts: RowFacts, verb: Verb, order: Order): Promise<string[]> {
  const answer = await root.daemon.ask(ASKING_MS);
  const channel = root.channel();
  const refused = disabledReason(verb, facts, channel);
  if (refused !== null) throw new Error(`${refused}. Nothing was sent`);
  const { incarnation, name } = facts.session;
  const state = readStateFile(root.statePath);
  const row = state?.rows?.find((one) => one.session.name === name);
  if (row === undefined || row.session.incarnation !== incarnation) {
    throw new Error(`${name} is not the session it was: it was closed meanwhile. Nothing was sent`);
  }
  if (channel.by === "socket" && !answer.listed.some((one) => one.name === name && one.incarnation === incarnation)) {
    throw new Error(`the daemon does not know this ${name} (another incarnation). Nothing was sent`);
  }
  const said = await give(root, channel, order);
  if (order.done !== null) await shown(root, order.done);
  return order.says(said).map(cleanText);
}

async function give(root: HerrscherRoot, channel: Channel, order: Order): Promise<string> {
  if (channel.by === "none") throw new Error(`${channel.why}. Nothing was sent`);
  if (channel.by === "program") return runHerrscher(root, channel.program, order);
  const path = root.daemon.sockets()?.command;
  if (path === undefined) throw new Error("the instance id is not one, so there is no socket. Nothing was sent");
  try {
    return await sendCommand(path, order.argv, { connectMs: ASKING_MS.connectMs, answerMs: order.answerMs });
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    if (error.kind === "err") throw new Error(`herrscher refused: ${cleanLine(error.message)}`);
    const sent = error.kind === "silent" || error.kind === "malformed";
    throw new Error(`${error.message}${sent ? ": it may still do it; look at the session again in a while" : ""}`);
  }
}

/** The program takes the same words. Its state directory is told by its own variable; a `.env` elsewhere is not its business. */
async function runHerrscher(root: HerrscherRoot, program: string, order: Order): Promise<string> {
  await refuseIfHeld(root.dir, { env: root.env, statePath: root.statePath });
  const env = { ...root.env, HERRSCHER_STATE_DIR: root.dir };
  const { code, stderr, stdout } = await runProgram(program, order.argv, {
    env,
    cwd: root.dir,
    timeoutMs: order.answerMs,
  });
  if (code === 0) return stdout.trimEnd();
  throw new Error(`herrscher failed (${code}): ${cleanLine(stderr) || cleanLine(stdout) || "it said nothing"}`);
}

async function shown(root: HerrscherRoot, done: (state: StateContent) => boolean): Promise<void> {
  const until = performance.now() + SHOWN_MS;
  for (;;) {
    const state = stateOrNull(root.statePath);
    if (state !== null && done(state)) return;
    if (performance.now() >= until) {
      throw new Error("herrscher said it was done, but state.json does not show it: look at its log");
    }
    await sleep(25);
  }
}

function stateOrNull(path: string): StateContent | null {
  try {
    return readStateFile(path);
  } catch {
    return null;
  }
}
