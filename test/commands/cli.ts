import { type ChildProcess, execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "../support/temp.ts";

const CLI = fileURLToPath(new URL("../../src/cli.ts", import.meta.url));

/** How a command ended. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** A command line with a home, a memory and a PATH of its own, over one directory of statefile sessions. */
export class CommandLine {
  readonly sessions: string;
  readonly env: Record<string, string>;

  constructor(sessions: string, env: Record<string, string> = {}) {
    this.sessions = sessions;
    const home = temporaryDirectory();
    this.env = { HOME: home, FORKTAIL_STATE_DIR: join(home, "memory"), PATH: "/usr/bin:/bin", TZ: "UTC", ...env };
  }

  /** Runs `forktail ARGS --root statefile=SESSIONS`. */
  run(...args: string[]): Promise<Ended> {
    return this.bare(...args, "--root", `statefile=${this.sessions}`);
  }

  /** Runs exactly these arguments. */
  bare(...args: string[]): Promise<Ended> {
    return new Promise((resolve) => {
      const options = { env: this.env, cwd: this.env.HOME, maxBuffer: 64 * 1024 * 1024 };
      const child = execFile(process.execPath, [CLI, ...args], options, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
      });
      child.stdin?.end();
    });
  }

  /** What `--json` printed. Fails when that was no JSON. */
  async json<T>(...args: string[]): Promise<T> {
    const { stdout, stderr } = await this.run(...args, "--json");
    if (stdout === "") throw new Error(`nothing was printed; it said: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  /** A command that goes on until it is stopped. */
  start(...args: string[]): ChildProcess {
    const child = spawn(process.execPath, [CLI, ...args, "--root", `statefile=${this.sessions}`], {
      env: this.env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => {
      child.kill("SIGKILL");
    });
    return child;
  }
}
