import { Box } from "ink";
import { useContext, useEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import type { SessionKey } from "../../session/key.ts";
import type { ListRow } from "../../store/rows.ts";
import { Appearance } from "../appearance.ts";
import type { Screen } from "../screen.ts";
import { StyledLine } from "../styled-line.tsx";
import { cutLine, type Line, span } from "../text/line.ts";
import { wrapSpans } from "../text/wrap.ts";
import { listWindow, rowHeight } from "./list-window.ts";
import { SessionRow } from "./session-row.tsx";

interface Props {
  screen: Screen;
  width: number;
  height: number;
}

/** Once a second is motion enough, and only while something visible works: a frame redraws the whole screen. */
const SPIN_MS = 1000;
/** The list begins below the header. */
const HEADER_ROWS = 1;

/** The sessions; only those in sight exist. */
export function SessionList({ screen, width, height }: Props) {
  const { ascii, still } = useContext(Appearance);
  const { rows } = useStore(screen.store, () => screen.rows());
  const selected = useStore(screen.store, (state) => state.view.selected);
  const focused = useStore(screen.store, (state) => state.view.focus === "list");
  const clock = useStore(screen.store, (state) => state.clock);
  const top = useRef(0);
  const at = rows.findIndex((row) => row.type === "session" && row.key === selected);
  const visible = listWindow(rows, at, top.current, height);
  top.current = visible.top;
  const shown = rows.slice(visible.top, visible.end);
  const inSight = shown.filter((row) => row.type === "session").length;
  screen.list = { width, inSight, keyAt: (row) => keyAtRow(shown, row - HEADER_ROWS) };
  const spins = !still && shown.some((row) => row.type === "session" && row.snapshot.status === "working");
  const frame = useSpinner(spins);
  return (
    <Box flexDirection="column" width={width} height={height} overflow="hidden">
      {rows.length === 0 && <EmptyList screen={screen} width={width} height={height} />}
      {shown.map((row) =>
        row.type === "group" ? (
          <StyledLine key={`group ${row.label}`} line={groupLine(row, width)} />
        ) : (
          <SessionRow
            key={row.key}
            snapshot={row.snapshot}
            alias={row.alias}
            pinned={row.pinned}
            tags={row.tags}
            depth={row.depth}
            hits={row.hits}
            selected={row.key === selected}
            focused={focused}
            width={width}
            ascii={ascii}
            clock={clock}
            frame={spins && row.snapshot.status === "working" ? frame : 0}
          />
        ),
      )}
    </Box>
  );
}

/**
 * Which frame the spinner shows. It turns a second after the last drawing, whatever that was for: a list that is redrawn
 * because sessions change turns it on the way, and no frame is drawn for the spinner alone.
 */
function useSpinner(spins: boolean): number {
  const [, draw] = useState(0);
  useEffect(() => {
    if (!spins) return;
    const turn = setTimeout(() => draw((count) => count + 1), SPIN_MS);
    return () => clearTimeout(turn);
  });
  return spins ? Math.floor(performance.now() / SPIN_MS) : 0;
}

/** The session whose lines a row of the list belongs to. */
function keyAtRow(shown: readonly ListRow[], row: number): SessionKey | null {
  let at = 0;
  for (const one of shown) {
    const height = rowHeight(one);
    if (row >= at && row < at + height) return one.type === "session" ? one.key : null;
    at += height;
  }
  return null;
}

function groupLine(row: Extract<ListRow, { type: "group" }>, width: number): Line {
  return cutLine([span(" "), span(row.label, "heading"), span(" "), span(String(row.count), "faint")], width);
}

/** Never an empty screen without a word on what to do. */
function EmptyList({ screen, width, height }: Props) {
  const scanning = useStore(screen.store, (state) => state.scanning);
  const { filter, scope } = useStore(screen.store, (state) => state.view);
  const { left } = screen.rows();
  const says: string[] = [];
  if (scanning) says.push("Reading the sessions …");
  else if (filter !== "") says.push(`Nothing matches ${filter}.`, `Esc shows all ${left.filtered} again.`);
  else if (left.elsewhere > 0) {
    says.push(`No session in ${scope ?? "this directory"}.`, `. shows the ${left.elsewhere} of everywhere.`);
  } else if (left.superseded + left.hidden > 0)
    says.push("Only internal or superseded sessions here.", "A lists them.");
  else {
    says.push("No sessions yet.", "They appear here as soon as", "an agent writes one.", "");
    says.push("forktail doctor  says where it looks", "forktail demo    shows it at work");
  }
  return (
    <Box flexDirection="column" flexShrink={0}>
      <StyledLine line={[]} />
      {says
        .flatMap((text) => wrapSpans([span(text, "faint")], width, { first: [span("  ")] }))
        .slice(0, Math.max(0, height - 1))
        .map((line, row) => (
          <StyledLine key={`row ${String(row)}`} line={line} />
        ))}
    </Box>
  );
}
