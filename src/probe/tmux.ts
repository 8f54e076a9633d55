import { execFile } from "node:child_process";

/** One pane of the tmux server, from the single `list-panes -a` of a tick. */
export interface TmuxPane {
  /** `%12`, unique on the server. */
  id: string;
  session: string;
  window: number;
  index: number;
  pid: number | null;
  tty: string | null;
  dead: boolean;
  /** Scrolling or choosing: keys sent now would not reach the program. */
  inMode: boolean;
  cwd: string | null;
  command: string | null;
  /** questmaster's `@party_role`, empty when unset. */
  role: string;
  /** Is it what some attached client is looking at? */
  visible: boolean;
}

export interface TmuxPanes {
  panes: TmuxPane[];
  sessions: Set<string>;
  /** No server runs: not a failure, just nothing there. */
  server: boolean;
}

const FORMAT = [
  "#{pane_id}",
  "#{session_name}",
  "#{window_index}",
  "#{pane_index}",
  "#{pane_pid}",
  "#{pane_tty}",
  "#{pane_dead}",
  "#{pane_in_mode}",
  "#{pane_active}#{window_active}#{?session_attached,1,0}",
  "#{@party_role}",
  "#{pane_current_command}",
  "#{pane_current_path}",
].join("\t");

/** Every pane of the server in one call. Throws when tmux is missing, hangs or fails; no server is an empty list. */
export async function listPanes(timeoutMs = 2000, env: NodeJS.ProcessEnv = process.env): Promise<TmuxPanes> {
  const result = await runTmux(["list-panes", "-a", "-F", FORMAT], timeoutMs, env);
  if (result.code !== 0) {
    if (/no server running|error connecting to|no such file|no current target|no sessions/iu.test(result.stderr)) {
      return { panes: [], sessions: new Set(), server: false };
    }
    throw new Error(`tmux list-panes failed: ${result.stderr.trim().slice(0, 200)}`);
  }
  return parsePanes(result.stdout);
}

export function parsePanes(stdout: string): TmuxPanes {
  const panes: TmuxPane[] = [];
  for (const line of stdout.split("\n")) {
    const [id, session, window, index, pid, tty, dead, mode, seen, role, command, ...path] = line.split("\t");
    if (!id || session === undefined) continue;
    panes.push({
      id,
      session,
      window: Number(window ?? 0),
      index: Number(index ?? 0),
      pid: pid ? Number(pid) : null,
      tty: tty || null,
      dead: dead === "1",
      inMode: mode !== undefined && mode !== "" && mode !== "0",
      visible: seen === "111",
      role: role ?? "",
      command: command || null,
      cwd: path.join("\t") || null,
    });
  }
  return { panes, sessions: new Set(panes.map((pane) => pane.session)), server: true };
}

export interface TmuxResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs `tmux` with an argument list, never a shell. Throws when it is missing or does not answer in time. */
export function runTmux(args: string[], timeoutMs: number, env: NodeJS.ProcessEnv = process.env): Promise<TmuxResult> {
  return new Promise((resolve, reject) => {
    const options = { timeout: timeoutMs, env: inUtf8(env), maxBuffer: 16 * 1024 * 1024 };
    execFile("tmux", args, options, (error, stdout, stderr) => {
      if (error === null) return resolve({ code: 0, stdout, stderr });
      if (error.killed) return reject(new Error(`tmux did not answer within ${timeoutMs} ms`));
      if (error.code === "ENOENT") return reject(new Error("tmux is not installed, or not on PATH"));
      if (typeof error.code === "number") return resolve({ code: error.code, stdout, stderr });
      reject(error);
    });
  });
}

/** To a client without a UTF-8 locale, tmux prints `_` for every tab and every other character it takes for unprintable. */
function inUtf8(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "";
  return /utf-?8/iu.test(locale) ? env : { ...env, LC_ALL: "C.UTF-8" };
}
