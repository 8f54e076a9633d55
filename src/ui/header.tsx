import { useContext } from "react";
import { useStore } from "zustand";
import type { Snapshot } from "../session/snapshot.ts";
import { STATUSES, type StatusName } from "../session/status.ts";
import { Appearance } from "./appearance.ts";
import type { Screen } from "./screen.ts";
import { StyledLine } from "./styled-line.tsx";
import { cutLine, type Line, lineWidth, span, spread } from "./text/line.ts";

/** The statuses worth a number at the top: what wants the person or goes on. */
const COUNTED: readonly StatusName[] = ["needs-input", "failed", "working", "done"];

/** The top line: who needs the person, how many there are, what limits the view. */
export function Header({ screen, width }: { screen: Screen; width: number }) {
  const { ascii } = useContext(Appearance);
  const { keys } = useStore(screen.store, () => screen.rows());
  useStore(screen.store, (state) => state.sessions);
  const scanning = useStore(screen.store, (state) => state.scanning);
  const filter = useStore(screen.store, (state) => state.view.filter);
  const troubles = useStore(screen.store, (state) => state.troubles.length);
  const problems = useStore(screen.store, (state) =>
    [...state.problems.values()].reduce((sum, list) => sum + list.length, 0),
  );
  const counts = countStatuses(keys.flatMap((key) => screen.snapshot(key) ?? []));
  const left: Line = [span(" forktail ", "heading")];
  for (const name of COUNTED) {
    const count = counts.get(name) ?? 0;
    if (count === 0) continue;
    const glyph = ascii ? STATUSES[name].ascii : STATUSES[name].glyph;
    left.push({ ...span(` ${glyph}${count}`), tone: name } as Line[number]);
  }
  const right: Line = [];
  if (filter !== "") right.push(span(`/${filter}  `, "match"));
  if (troubles > 0) right.push(span("polling  ", "warn"));
  if (problems > 0) right.push(span(`P ${problems}  `, "warn"));
  right.push(span(scanning ? `${keys.length} … ` : `${keys.length} `, "faint"));
  const line = lineWidth(left) + lineWidth(right) > width ? cutLine(left, width) : spread(left, right, width);
  return <StyledLine line={line} />;
}

export function countStatuses(sessions: Iterable<Snapshot>): Map<StatusName, number> {
  const counts = new Map<StatusName, number>();
  for (const { status } of sessions) counts.set(status, (counts.get(status) ?? 0) + 1);
  return counts;
}
