import { Box } from "ink";
import { memo } from "react";
import { StyledLine } from "../styled-line.tsx";
import { type SessionRowFacts, sessionLines } from "./session-lines.ts";

/** Counts drawings, so that a test can assert that one session's change draws one row. */
export const rowsDrawn = { count: 0 };

/** A session in the list: two lines, drawn again only when something it shows changed. */
export const SessionRow = memo(
  function SessionRow(facts: SessionRowFacts) {
    rowsDrawn.count += 1;
    const [first, second] = sessionLines(facts);
    return (
      <Box flexDirection="column" height={2} width={facts.width}>
        <StyledLine line={first} />
        <StyledLine line={second} />
      </Box>
    );
  },
  (before, after) =>
    (Object.keys(after) as (keyof SessionRowFacts)[]).every((name) =>
      name === "hits" ? before.hits.join() === after.hits.join() : before[name] === after[name],
    ),
);
