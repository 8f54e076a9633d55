import { copyText } from "../../actions/clipboard.ts";
import { shellLine } from "../../actions/resume.ts";
import type { MenuItem } from "../../store/view.ts";
import type { Screen } from "../screen.ts";

export function copyMenu(screen: Screen): void {
  const session = screen.session();
  if (!session) return;
  const entry = screen.entry();
  const copy = (what: string, text: string): MenuItem => ({
    label: what,
    note: text.split("\n")[0] ?? "",
    run: () =>
      screen.attempt(async () => {
        const took = await copyText(text, screen.terminal.output, screen.context.env);
        screen.say(
          took.length > 0
            ? `${what} copied to ${took.join(" and ")}`
            : "nothing took the text: it is too long for the terminal",
          took.length > 0 ? "good" : "bad",
        );
      }),
  });
  const items = [copy("session id", session.id), copy("session key", session.key), copy("path", session.path)];
  if (session.resume) items.unshift(copy("resume command", shellLine(session.resume)));
  const block = entry?.text ? codeBlock(entry.text) : null;
  if (block !== null) items.unshift(copy("code block", block));
  if (entry?.text) items.unshift(copy("text of the entry", entry.text));
  else if (entry?.call) items.unshift(copy("the call", JSON.stringify(entry.call.args, null, 2) ?? entry.call.name));
  screen.overlay({ type: "menu", title: "copy", items });
}

/** The first fenced block of a Markdown text, without its fences. */
function codeBlock(text: string): string | null {
  return /^(?:```|~~~)[^\n]*\n([\s\S]*?)^(?:```|~~~)/mu.exec(text)?.[1] ?? null;
}
