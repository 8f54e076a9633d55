import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** Absolute path of a program as `PATH` finds it, null when it is not there. Only absolute directories count. */
export function findProgram(name: string, env: NodeJS.ProcessEnv): string | null {
  for (const directory of (env.PATH ?? "").split(delimiter)) {
    if (!isAbsolute(directory)) continue;
    const path = join(directory, name);
    try {
      accessSync(path, constants.X_OK);
      if (statSync(path).isFile()) return path;
    } catch {
      // Not here.
    }
  }
  return null;
}

export interface RunOptions {
  env: NodeJS.ProcessEnv;
  timeoutMs: number;
  cwd?: string;
}

export interface RunResult {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs a program with an argument list, never through a shell. A program that ends with any code is an answer;
 * throws when it cannot be started, does not end in time, or is killed.
 */
export function runProgram(program: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const { cwd, env, timeoutMs } = options;
  return new Promise((resolve, reject) => {
    const settings = { env, timeout: timeoutMs, maxBuffer: 16 * 1024 * 1024, ...(cwd === undefined ? {} : { cwd }) };
    const child = execFile(program, [...args], settings, (error, stdout, stderr) => {
      if (error === null) return resolve({ code: 0, stdout, stderr });
      if (error.killed) return reject(new Error(`${program} did not end within ${timeoutMs / 1000} s and was stopped`));
      if (typeof error.code === "number") return resolve({ code: error.code, stdout, stderr });
      if (error.code === "ENOENT")
        return reject(new Error(`${program} cannot be started: it or its directory is gone`));
      reject(error);
    });
    child.stdin?.end();
  });
}
