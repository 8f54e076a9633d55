import { execFile, execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { tmuxKey } from "./keys.ts";
import { has } from "./seen.ts";
import { until } from "./until.ts";

const run = promisify(execFile);

interface TmuxOptions {
  cols?: number;
  rows?: number;
  /** The whole environment of the program: nothing of ours leaks in. `TERM` is tmux's to set. */
  env: Record<string, string>;
  cwd?: string;
}

/** The real program in a real terminal: a tmux server of its own, with one window of exactly the given size. */
export class Tmux {
  readonly socket: string;
  /** The pane the program was started in. */
  readonly pane = "=e2e:0.0";

  constructor(socket: string) {
    this.socket = socket;
  }

  /** Runs a tmux command on this server and returns what it printed. */
  async command(...args: string[]): Promise<string> {
    const { stdout } = await run("tmux", ["-L", this.socket, "-f", "/dev/null", ...args], { env: serverEnv() });
    return stdout;
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.command("send-keys", "-t", this.pane, "--", tmuxKey(key));
  }

  async type(text: string): Promise<void> {
    await this.command("send-keys", "-t", this.pane, "-l", "--", text);
  }

  async resize(cols: number, rows: number): Promise<void> {
    await this.command("resize-window", "-t", "=e2e:0", "-x", String(cols), "-y", String(rows));
  }

  /** The visible lines, with those that scrolled out above if asked for. With colours: SGR sequences in the text. */
  async screen({ colours = false, history = false, pane = this.pane } = {}): Promise<string[]> {
    const more = [...(colours ? ["-e"] : []), ...(history ? ["-S", "-"] : [])];
    const text = await this.command("capture-pane", "-p", ...more, "-t", pane);
    return text.replace(/\n$/u, "").split("\n");
  }

  /** Waits until a text is on the screen; fails with the screen as it is. Returns the screen. */
  async see(text: string | RegExp, mostMs = 10_000): Promise<string> {
    return until(
      async () => (await this.screen()).join("\n"),
      (screen) => has(screen, text),
      mostMs,
    ).catch((error: Error) => {
      throw new Error(`to see ${text}: ${error.message}`);
    });
  }

  async seeNo(text: string | RegExp, mostMs = 10_000): Promise<string> {
    return until(
      async () => (await this.screen()).join("\n"),
      (screen) => !has(screen, text),
      mostMs,
    ).catch((error: Error) => {
      throw new Error(`to see no ${text}: ${error.message}`);
    });
  }

  /** Value of a tmux format for the program's pane: `#{pane_dead}`, `#{cursor_y}`, `#{alternate_on}` … */
  async ask(format: string): Promise<string> {
    return (await this.command("display-message", "-p", "-t", this.pane, format)).trim();
  }

  /** Waits until the program has ended; its exit code, or the signal as tmux names it. */
  async ended(mostMs = 10_000): Promise<{ code: number | null; signal: string | null }> {
    // A pane counts as dead when its terminal is closed, a moment before the exit code is known.
    const [code = "", signal = ""] = await until(
      async () => {
        const [dead, server, ...known] = (
          await this.ask("#{pane_dead},#{pid},#{pane_dead_status},#{pane_dead_signal}")
        ).split(",");
        // Some kernels send SIGCHLD for a program with threads before it can be waited for, and tmux then misses its end.
        if (dead === "1") process.kill(Number(server), "SIGCHLD");
        return known;
      },
      (known) => known.some((part) => part !== ""),
      mostMs,
    );
    return { code: code === "" ? null : Number(code), signal: signal === "" ? null : signal };
  }

  /** Process id of the program. */
  async pid(): Promise<number> {
    return Number(await this.ask("#{pane_pid}"));
  }
}

/** tmux itself needs little; `TMUX` unset, or it would refuse to nest. */
function serverEnv(): Record<string, string> {
  const { PATH = "/usr/bin:/bin", HOME = "/", TMPDIR } = process.env;
  return { PATH, HOME, LANG: "C.UTF-8", LC_ALL: "C.UTF-8", ...(TMPDIR ? { TMPDIR } : {}) };
}

/**
 * Starts a program in a new tmux server, which is killed when the test is over. The dead pane stays, so that its last
 * screen and its exit code can be looked at.
 */
export async function tmuxWith(argv: readonly string[], options: TmuxOptions): Promise<Tmux> {
  const { cols = 80, rows = 24, env, cwd } = options;
  const tmux = new Tmux(`forktail-test-${process.pid}-${randomBytes(4).toString("hex")}`);
  onTestFinished(() => {
    try {
      execFileSync("tmux", ["-L", tmux.socket, "kill-server"], { stdio: "ignore", env: serverEnv() });
    } catch {
      // Nothing was left to kill.
    }
  });
  const environment = Object.entries({ TERM: "tmux-256color", LANG: "C.UTF-8", ...env }).map(([k, v]) => `${k}=${v}`);
  await tmux.command(
    // The options come first: a program that ends at once would take the server with it.
    ...["start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";", "set-option", "-g", "status", "off"],
    ...[";", "set-option", "-g", "default-terminal", "tmux-256color", ";", "set-option", "-g", "escape-time", "0"],
    ...[";", "new-session", "-d", "-s", "e2e", "-x", String(cols), "-y", String(rows)],
    ...(cwd === undefined ? [] : ["-c", cwd]),
    // `env -i` keeps the server's own variables out; TMUX and TMUX_PANE are what a program inside tmux would see.
    ...["--", "sh", "-c", 'exec env -i TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" "$@"', "sh", ...environment, ...argv],
  );
  return tmux;
}
