import { spawn } from "node:child_process";
import type { NoticesConfig } from "../memory/config.ts";
import { findProgram } from "../probe/program.ts";
import type { Notice } from "../session/notice.ts";
import { cleanLine } from "../session/untrusted.ts";

export const BELL = "\u0007";
/** A notice's program is stopped after this long, ms. */
const MOST_MS = 30_000;

/**
 * The escape sequence of a notice, null when the terminal has none. Notices are clean already; here only the sequence's own
 * separators matter. tmux hands it on only inside its own wrapper, with every ESC doubled, and where allow-passthrough is on.
 */
export function terminalNotice(
  notice: Notice,
  how: NonNullable<NoticesConfig["terminal"]>,
  env: NodeJS.ProcessEnv,
): string | null {
  if (how === "off") return null;
  const title = cleanLine(notice.title).replaceAll(";", ",");
  const text = cleanLine(notice.text);
  // A letter stands first: OSC 9 with a number is a progress bar in some terminals.
  const sequence = how === "osc9" ? `\u001b]9;${title}: ${text}\u0007` : `\u001b]777;notify;${title};${text}\u0007`;
  return env.TMUX ? `\u001bPtmux;${sequence.replaceAll("\u001b", "\u001b\u001b")}\u001b\\` : sequence;
}

/** The argument list that shows a notice on the desktop, null when its program is not there. */
export function desktopNotice(
  notice: Notice,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): string[] | null {
  if (platform === "darwin") {
    const program = findProgram("osascript", env);
    if (program === null) return null;
    // The words are arguments of the script, never a part of it.
    const script = [
      "on run argv",
      "display notification (item 2 of argv) with title (item 1 of argv)",
      "end run",
    ].flatMap((line) => ["-e", line]);
    return [program, ...script, notice.title, notice.text];
  }
  const program = findProgram("notify-send", env);
  if (program === null) return null;
  const urgency = notice.kind === "done" ? "normal" : "critical";
  return [program, "--app-name=forktail", `--urgency=${urgency}`, "--", notice.title, markupText(notice.text)];
}

/** notify-send takes its body for markup, and backslashes in it for escapes. */
function markupText(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** What the person's own command finds in its environment. */
export function noticeEnv(notice: Notice, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...env,
    FORKTAIL_KEY: cleanLine(notice.key ?? ""),
    FORKTAIL_STATUS: notice.kind,
    FORKTAIL_TITLE: cleanLine(notice.title),
    FORKTAIL_TEXT: cleanLine(notice.text),
  };
}

/** Starts a program for a notice and forgets it; `failed` hears when it could not be started or ended with an error. */
export function startProgram(argv: readonly string[], env: NodeJS.ProcessEnv, failed: (why: string) => void): void {
  const [program = "", ...args] = argv;
  const name = cleanLine(program);
  try {
    const child = spawn(program, args, { env, stdio: "ignore", timeout: MOST_MS });
    child.on("error", (error) => failed(`${name} did not start: ${error.message}`));
    child.on("exit", (code, signal) => {
      if (signal !== null) failed(`${name} did not end within ${MOST_MS / 1000} s and was stopped`);
      else if (code !== 0) failed(`${name} ended with code ${code}`);
    });
    child.unref();
  } catch (error) {
    failed(`${name} did not start: ${error instanceof Error ? error.message : String(error)}`);
  }
}
