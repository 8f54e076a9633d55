import { onTestFinished } from "vitest";
import { Pty, type PtyOptions } from "./pty-program.ts";

/** A program on a pseudo-terminal, killed when the test is over. */
export function ptyWith(argv: readonly [string, ...string[]], options: PtyOptions): Pty {
  const pty = new Pty(argv, options);
  let ended = false;
  pty.ending.then(() => {
    ended = true;
  });
  onTestFinished(() => {
    if (!ended) pty.process.kill("SIGKILL");
    pty.terminal.dispose();
  });
  return pty;
}
