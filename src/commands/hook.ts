import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { readInput } from "../sources/questmaster/hooks/input.ts";
import { type HookOutcome, writeHook } from "../sources/questmaster/hooks/run.ts";

/** How long an agent may wait for a lock; after that the hook goes on without it. */
const WAIT_MS = 40;
/** How long the hook that goes on may wait: its agent does not. */
const LATE_WAIT_MS = 10_000;

/** Unix nanoseconds of the event, in the environment of a hook that was handed over. */
const HAPPENED_AT = "FORKTAIL_HOOK_HAPPENED_AT";

export interface HookOptions {
  /** `--session ID`. */
  session?: string | undefined;
  /** Starts this very command again, detached, with the input it is given; null: it cannot be had. */
  handOver?: ((input: string, env: NodeJS.ProcessEnv) => void) | null;
  /** Where problems are told: an agent must see neither an exit code nor output. */
  log?: (line: string) => void;
}

/**
 * `forktail hook AGENT ACTION`: takes an agent's hook JSON from standard input and writes what it says into the session's
 * state.json and state.jsonl (questmaster.md §7). Never throws, prints nothing, and never makes its agent wait: a lock
 * that is busy is left to a detached process of the same command.
 */
export async function runHook(
  agent: string,
  action: string,
  stdin: Readable & { isTTY?: boolean },
  env: NodeJS.ProcessEnv,
  options: HookOptions = {},
): Promise<void> {
  const log = options.log ?? (() => undefined);
  try {
    const input = await readInput(stdin);
    const late = env[HAPPENED_AT];
    const happenedAt = late !== undefined && /^\d{1,19}$/u.test(late) ? BigInt(late) : undefined;
    const waitMs = happenedAt === undefined ? WAIT_MS : LATE_WAIT_MS;
    const call = { agent, action, input, env, session: options.session, waitMs, happenedAt };
    const outcome: HookOutcome = await writeHook(call);
    if (outcome.kind !== "busy") return;
    const handOver = options.handOver === undefined ? handOverToOurselves : options.handOver;
    if (happenedAt !== undefined || handOver === null) return log("the session's lock was busy for too long");
    handOver(input, { ...env, [HAPPENED_AT]: outcome.happenedAt.toString() });
  } catch (error) {
    log(error instanceof Error ? error.message : String(error));
  }
}

/** `forktail hook AGENT ACTION [--session ID]`. Always 0: an agent must not be stopped by its hook. */
export async function hook(options: { session?: string }, agent: string, action: string): Promise<number> {
  await runHook(agent, action, process.stdin, process.env, { session: options.session });
  return 0;
}

function handOverToOurselves(input: string, env: NodeJS.ProcessEnv): void {
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    env,
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.on("error", () => undefined);
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(input);
  child.unref();
}
