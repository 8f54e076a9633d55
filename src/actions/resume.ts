import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { runTmux } from "../probe/tmux.ts";
import type { ResumeCommand, Snapshot } from "../session/snapshot.ts";
import { cleanLine, isHostile } from "../session/untrusted.ts";
import type { ActionContext } from "./fork.ts";

/** What `r` will do, found out before anything is launched (design §6: the resume doctor). */
export type ResumePlan =
  | { kind: "go"; pane: string; says: string[] }
  | { kind: "run"; command: ResumeCommand; notes: string[]; prepare: (() => Promise<string[]>) | null }
  | { kind: "cannot"; reason: string; command: ResumeCommand | null };

export async function planResume(context: ActionContext, snapshot: Snapshot): Promise<ResumePlan> {
  if (snapshot.livePane !== null) {
    return { kind: "go", pane: snapshot.livePane, says: [`It is live in tmux pane ${snapshot.livePane}: go there.`] };
  }
  const answer = await context.live.reader(snapshot.key).resume(snapshot.key);
  if (!answer.ok) return { kind: "cannot", reason: answer.reason, command: null };
  const { command } = answer;
  const program = programOf(command);
  if (command.cwd !== null && !isDirectory(command.cwd)) {
    const reason = `its directory ${cleanLine(command.cwd)} is gone: recreate it (mkdir -p, or git worktree add), then resume`;
    return { kind: "cannot", reason, command };
  }
  if (!onPath(program, context.env)) {
    return {
      kind: "cannot",
      reason: `${cleanLine(program)} is not on PATH: install it, or copy the command with y`,
      command,
    };
  }
  return { kind: "run", command, notes: answer.notes, prepare: answer.prepare ?? null };
}

/** The program that a command starts: `env` only sets variables for it. */
export function programOf({ argv }: ResumeCommand): string {
  if (argv[0] !== "env") return argv[0] ?? "";
  return argv.slice(1).find((word) => !/^[A-Za-z_][A-Za-z0-9_]*=/u.test(word)) ?? "";
}

export type Place = "split" | "window" | "here";

/** Opens the command in a new tmux split or window. Argument lists only: tmux is given no shell line. */
export async function resumeInTmux(
  command: ResumeCommand,
  place: "split" | "window",
  env: NodeJS.ProcessEnv,
): Promise<void> {
  // A split is made of our pane; a new window stands behind ours, and tmux takes no pane for that.
  const at = place === "split" ? (env.TMUX_PANE ?? null) : await windowOfOurs(env);
  const target = at === null ? [] : ["-t", at];
  const verb = place === "split" ? ["split-window", "-h"] : ["new-window", "-a"];
  const cwd = command.cwd === null ? [] : ["-c", command.cwd];
  // The server's own PATH is that of the shell which once started it: the program was looked for on ours.
  const path = env.PATH ? ["-e", `PATH=${env.PATH}`] : [];
  const result = await runTmux([...verb, ...target, ...cwd, ...path, "--", ...command.argv], 5000, env);
  if (result.code !== 0) throw new Error(`tmux refused: ${cleanLine(result.stderr)}`);
}

/** `@3`, the window that we run in; null when tmux does not say. */
async function windowOfOurs(env: NodeJS.ProcessEnv): Promise<string | null> {
  if (!env.TMUX_PANE) return null;
  const { stdout } = await runTmux(["display-message", "-p", "-t", env.TMUX_PANE, "#{window_id}"], 5000, env);
  return /^@[0-9]+$/u.exec(stdout.trim())?.[0] ?? null;
}

/** Brings a live pane in front of the client that forktail runs in, or selects it on its server. */
export async function goToPane(pane: string, env: NodeJS.ProcessEnv): Promise<void> {
  if (!/^%[0-9]+$/u.test(pane)) throw new Error(`${cleanLine(pane)} is not a tmux pane`);
  for (const args of [
    ["select-window", "-t", pane],
    ["select-pane", "-t", pane],
  ]) {
    const result = await runTmux(args, 5000, env);
    if (result.code !== 0) throw new Error(`the pane is gone: ${cleanLine(result.stderr)}`);
  }
  if (!env.TMUX) throw new Error(`not inside tmux: attach with tmux attach -t ${pane}`);
  const result = await runTmux(["switch-client", "-t", pane], 5000, env);
  if (result.code !== 0) throw new Error(`tmux could not switch: ${cleanLine(result.stderr)}`);
}

export function insideTmux(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env.TMUX);
}

/** One line that a person can paste into a shell. Quoted for POSIX shells (`$'…'` since 2024); we ourselves never run it through one. */
export function shellLine(command: ResumeCommand): string {
  const run = command.argv.map(shellWord).join(" ");
  return command.cwd === null ? run : `cd ${shellWord(command.cwd)} && ${run}`;
}

function shellWord(word: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/u.test(word)) return word;
  if (!isHostile(word)) return `'${word.replaceAll("'", "'\\''")}'`;
  // What would act on the terminal that shows the line is written as its bytes.
  return `$'${Array.from(word, (one) => (isHostile(one) || one === "'" || one === "\\" ? octal(one) : one)).join("")}'`;
}

function octal(text: string): string {
  return Array.from(Buffer.from(text), (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Whether a program can be found; a path is taken as it is. */
export function onPath(program: string, env: NodeJS.ProcessEnv): boolean {
  const places = program.includes("/") ? [program] : (env.PATH ?? "").split(delimiter).map((dir) => join(dir, program));
  return places.some((path) => {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  });
}
