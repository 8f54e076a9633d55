import { Box } from "ink";
import { useSyncExternalStore } from "react";
import { useStore } from "zustand";
import type { Snapshot } from "../../session/snapshot.ts";
import type { OpenView } from "../../store/view.ts";
import type { Screen } from "../screen.ts";
import { StyledLine } from "../styled-line.tsx";
import { money, tokens } from "../text/amounts.ts";
import { cutLine, type Line, span, spread } from "../text/line.ts";
import { printableLine } from "../text/printable.ts";

interface Props {
  screen: Screen;
  width: number;
  height: number;
}

const HEAD_ROWS = 3;

/** One session: title, tabs of its views, and the view itself. */
export function Detail({ screen, width, height }: Props) {
  const pane = useSyncExternalStore(screen.subscribePane, () => screen.pane());
  useSyncExternalStore(pane?.subscribe ?? noSubscription, pane?.version ?? zero);
  const open = useStore(screen.store, (state) => state.view.open);
  const focused = useStore(screen.store, (state) => state.view.focus === "detail");
  const snapshot = useStore(screen.store, () => (open ? screen.snapshot(open.key) : null));
  useStore(screen.store, (state) => state.clock);
  if (!open || !pane) return <Nothing width={width} height={height} />;
  const body = height - HEAD_ROWS;
  const lines = pane.lay(width, Math.max(1, body));
  return (
    <Box flexDirection="column" width={width} height={height} overflow="hidden">
      <StyledLine line={titleLine(snapshot, screen.context.memory.get("name", open.key), open, width, focused)} />
      <StyledLine line={tabLine(screen, open, pane.position(), width)} />
      <StyledLine line={[span((screen.ascii ? "-" : "─").repeat(width), "border")]} />
      {lines.map((line, row) => (
        // Rows of a viewport have no identity but their place.
        <StyledLine key={`row ${String(row)}`} line={line} />
      ))}
    </Box>
  );
}

const noSubscription = () => () => undefined;
const zero = () => 0;

function Nothing({ width, height }: { width: number; height: number }) {
  return (
    <Box width={width} height={height} paddingTop={1}>
      <StyledLine line={cutLine([span("  Choose a session: Enter reads it.", "faint")], width)} />
    </Box>
  );
}

function titleLine(
  snapshot: Snapshot | null,
  alias: string | null,
  open: OpenView,
  width: number,
  focused: boolean,
): Line {
  if (open.view === "totals")
    return cutLine([span(" "), span("usage of all sessions", focused ? "heading" : "strong")], width);
  if (!snapshot) return cutLine([span(` ${printableLine(open.key)}: gone, or not read yet`, "faint")], width);
  const title = span(printableLine(alias ?? snapshot.title), focused ? "heading" : "strong");
  const { usage } = snapshot;
  const facts: string[] = [];
  if (usage) facts.push(tokens(usage.input + usage.cacheRead + usage.cacheWrite + usage.output));
  if (usage?.cost != null) facts.push(money(usage.cost, usage.costBasis));
  facts.push(snapshot.agent ?? snapshot.source);
  return spread([span(" "), title], [span(`${facts.join("  ")} `, "faint")], width);
}

function tabLine(screen: Screen, open: OpenView, position: string, width: number): Line {
  const line: Line = [span(" ")];
  for (const view of open.view === "totals" ? [] : screen.views()) {
    const here = view === open.view;
    line.push(
      { ...span(view, here ? "accent" : "faint"), ...(here ? { underline: true, bold: true } : {}) },
      span("  "),
    );
  }
  if (open.view === "branch") line.push({ ...span(printableLine(open.of ?? "branch"), "accent"), underline: true });
  return spread(line, [span(`${position} `, "faint")], width);
}
