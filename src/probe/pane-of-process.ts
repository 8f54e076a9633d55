import type { Process, ProcessTable } from "./processes.ts";
import type { TmuxPane, TmuxPanes } from "./tmux.ts";

const MOST_ANCESTORS = 64;

/** The tmux pane a process runs in: by its terminal, else because the pane's process is one of its ancestors. */
export function paneOfProcess(process: Process, processes: ProcessTable, tmux: TmuxPanes | null): TmuxPane | null {
  const panes = tmux?.panes.filter((pane) => !pane.dead) ?? [];
  if (panes.length === 0) return null;
  const byTerminal = process.tty === null ? undefined : panes.find((pane) => pane.tty === process.tty);
  if (byTerminal !== undefined) return byTerminal;
  let at: Process | undefined = process;
  for (let step = 0; at !== undefined && step < MOST_ANCESTORS; step += 1) {
    const { pid, ppid }: Process = at;
    const pane = panes.find((one) => one.pid === pid);
    if (pane !== undefined) return pane;
    at = ppid === null || ppid === pid ? undefined : processes.byPid.get(ppid);
  }
  return null;
}
