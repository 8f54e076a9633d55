import { now } from "../../probe/clock.ts";
import { joinSessions } from "../../session/join.ts";
import type { Screen } from "../screen.ts";
import type { TerminalReport } from "../terminal-reports.ts";

/** What the terminal tells by itself: focus and mouse. */
export function hear(screen: Screen, report: TerminalReport): void {
  if (report.kind === "focus") look(screen, report.focused);
  else if (report.kind === "wheel") turnWheel(screen, report.direction);
  else click(screen, report.column, report.row);
}

/** The person looks away, or back: then what happened meanwhile is offered. */
function look(screen: Screen, focused: boolean): void {
  if (focused === screen.view.focused) return;
  screen.set({ focused });
  const { sessions } = joinSessions(screen.store.getState().sessions);
  const at = now(screen.context.env);
  if (!focused) {
    screen.absence.begin(sessions, at);
    return;
  }
  const changed = screen.absence.end(sessions, at);
  if (changed > 0)
    screen.say(`while you were away: ${changed} session${changed === 1 ? "" : "s"} changed · D shows what`);
}

function turnWheel(screen: Screen, direction: 1 | -1): void {
  if (screen.view.focus === "list") screen.moveSelection(direction);
  else screen.pane()?.move(3 * direction);
}

function click(screen: Screen, column: number, row: number): void {
  const { focus, open } = screen.view;
  const key = screen.list.keyAt(row);
  if (column < screen.list.width && (screen.sideBySide() || focus === "list")) {
    if (key !== null) screen.select(key);
    screen.set({ focus: "list" });
  } else if (open) screen.set({ focus: "detail" });
}
