import { useContext } from "react";
import { useStore } from "zustand";
import type { Conflict } from "../session/conflicts.ts";
import { countedStatuses } from "../session/counts.ts";
import { STATUSES } from "../session/status.ts";
import { Appearance } from "./appearance.ts";
import type { Screen } from "./screen.ts";
import { StyledLine } from "./styled-line.tsx";
import { cutLine, type Line, lineWidth, span, spread } from "./text/line.ts";
import { toned } from "./toned.ts";

/** The top line: who needs the person, how many there are, what limits the view. */
export function Header({ screen, width }: { screen: Screen; width: number }) {
  const { ascii } = useContext(Appearance);
  const scanning = useStore(screen.store, (state) => state.scanning);
  const filter = useStore(screen.store, (state) => state.view.filter);
  const scoped = useStore(screen.store, (state) => state.view.scope !== null);
  const troubles = useStore(screen.store, (state) => state.troubles.length);
  const problems = useStore(screen.store, (state) =>
    [...state.problems.values()].reduce((sum, list) => sum + list.length, 0),
  );
  const conflicts = useStore(screen.store, (state) => state.conflicts.filter(isPressing).length);
  const rows = useStore(screen.store, () => screen.rows());
  // Over all sessions, not the filtered ones: who needs the person is never filtered away.
  const { counts } = useStore(screen.store, () => screen.attention());
  const left: Line = [span(" "), span("forktail", "heading"), span(" ")];
  for (const { status, count } of countedStatuses(counts)) {
    const glyph = ascii ? STATUSES[status].ascii : STATUSES[status].glyph;
    left.push(span(" "), toned(`${glyph}${count}`, status));
  }
  const right: Line = [];
  if (filter !== "") right.push(span(`/${filter}`, "match"), span("  "));
  if (scoped) right.push(span("here  ", "label"));
  if (troubles > 0) right.push(span("polling  ", "warn"));
  if (conflicts > 0) right.push(span(`${ascii ? "!!" : "⚠"} ${conflicts}  `, "warn"));
  if (problems > 0) right.push(span(`P ${problems}  `, "warn"));
  right.push(span(scanning ? `${rows.keys.length} … ` : `${rows.keys.length} `, "faint"));
  const line = lineWidth(left) + lineWidth(right) > width ? cutLine(left, width) : spread(left, right, width);
  return <StyledLine line={line} />;
}

/** A directory that is gone waits until somebody resumes; two sessions in each other's way do not. */
function isPressing({ kind }: Conflict): boolean {
  return kind !== "directory-gone";
}
