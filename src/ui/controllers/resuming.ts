import { editedFile, editorCommand } from "../../actions/editor.ts";
import {
  goToPane,
  insideTmux,
  planResume,
  programOf,
  type Place as ResumePlace,
  resumeInTmux,
  shellLine,
} from "../../actions/resume.ts";
import type { ResumeCommand } from "../../session/snapshot.ts";
import type { MenuItem } from "../../store/view.ts";
import type { Screen } from "../screen.ts";

export function resumeSession(screen: Screen, where?: ResumePlace): void {
  const session = screen.session();
  if (!session) return;
  screen.attempt(async () => {
    const plan = await planResume(screen.context, session);
    if (plan.kind === "cannot") {
      screen.say(`not resumed: ${plan.reason}`, "bad");
      return;
    }
    if (plan.kind === "go") return goToPane(plan.pane, screen.context.env);
    const { env } = screen.context;
    const place = where ?? screen.config.resumeIn ?? (insideTmux(env) ? "split" : "here");
    const launch = (): void =>
      screen.attempt(() => launchCommand(screen, plan.command, insideTmux(env) ? place : "here", plan.prepare));
    if (plan.notes.length === 0) return launch();
    screen.ask({
      title: "Resume this session?",
      says: [shellLine(plan.command), ...plan.notes],
      warning: null,
      verb: "resume",
      run: launch,
    });
  });
}

async function launchCommand(
  screen: Screen,
  command: ResumeCommand,
  place: ResumePlace,
  prepare: (() => Promise<string[]>) | null,
): Promise<void> {
  const did = (await prepare?.()) ?? [];
  if (place !== "here") {
    await resumeInTmux(command, place, screen.context.env);
    screen.say([`resumed in a ${place === "split" ? "split" : "new window"}`, ...did].join("; "), "good");
    return;
  }
  await lendTo(screen, command);
}

/** Gives the terminal to a program and comes back with how it ended. */
async function lendTo(screen: Screen, command: ResumeCommand): Promise<void> {
  let code = 0;
  await screen.terminal.lend(async () => {
    code = await screen.terminal.run(command);
  });
  const name = programOf(command);
  screen.say(code === 0 ? `back from ${name}` : `${name} ended with ${code}`, code === 0 ? "plain" : "bad");
}

export function chooseResumePlace(screen: Screen): void {
  const items: MenuItem[] = insideTmux(screen.context.env)
    ? [
        { label: "tmux split", run: () => resumeSession(screen, "split") },
        { label: "tmux window", run: () => resumeSession(screen, "window") },
        { label: "here, in place of this screen", run: () => resumeSession(screen, "here") },
      ]
    : [{ label: "here, in place of this screen", run: () => resumeSession(screen, "here") }];
  screen.overlay({ type: "menu", title: "Resume where?", items });
}

/** The file that the entry under the cursor edits, at its place; else the session's own file. */
export function openInEditor(screen: Screen): void {
  const session = screen.session();
  if (!session) return;
  const entry = screen.entry();
  const edited = entry?.call ? editedFile(entry.call.args, session.cwd) : null;
  if (edited !== null && !edited.there) {
    screen.say(`${edited.path} is not on this machine`, "bad");
    return;
  }
  const command = editorCommand(edited?.path ?? session.path, edited?.line ?? null, screen.context.env);
  if (command === null) {
    screen.say("no editor: set $EDITOR to one that is on PATH", "bad");
    return;
  }
  screen.attempt(() => lendTo(screen, { argv: command, cwd: null }));
}
