import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { cleanLine } from "../../session/untrusted.ts";

export interface RunToFile {
  env: NodeJS.ProcessEnv;
  cwd: string;
  timeoutMs: number;
}

const MOST_STDERR = 4000;

/**
 * Runs a program with its output in a new file, whatever its size; never through a shell. Throws when it cannot be
 * started, does not end in time, or ends with another code than 0.
 */
export function runToFile(program: string, args: readonly string[], path: string, options: RunToFile): Promise<void> {
  const { env, cwd, timeoutMs } = options;
  const fd = openSync(path, "wx", 0o600);
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args], { env, cwd, timeout: timeoutMs, stdio: ["ignore", fd, "pipe"] });
    closeSync(fd);
    let said = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-MOST_STDERR);
    });
    child.on("error", (error) => reject(new Error(`${program} cannot be started: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (code === 0) return resolve();
      const how = signal === null ? `ended with code ${code}` : "did not end in time and was stopped";
      reject(new Error(`${program} ${args[0] ?? ""} ${how}: ${cleanLine(said)}`));
    });
  });
}
