import { Box } from "ink";
import { StyledLine } from "../styled-line.tsx";
import { cutLine, type Line, span } from "../text/line.ts";

interface Props {
  title: string;
  lines: readonly Line[];
  width: number;
  /** Rows, the title's included. */
  height: number;
  ascii: boolean;
}

/** What lies over the bottom of the screen: a rule with a title, and lines. Never beside what it covers, so it fits 40 columns. */
export function OverlayFrame({ title, lines, width, height, ascii }: Props) {
  const rule = ascii ? "-" : "─";
  const head: Line = [span(`${rule}${rule} `, "border"), span(title, "heading"), span(" ")];
  const used = title.length + 4;
  const shown = lines.slice(0, height - 1);
  return (
    <Box flexDirection="column" width={width} height={height} overflow="hidden">
      <StyledLine line={cutLine([...head, span(rule.repeat(Math.max(0, width - used)), "border")], width)} />
      {shown.map((line, row) => (
        <StyledLine key={`row ${String(row)}`} line={cutLine(line, width)} />
      ))}
    </Box>
  );
}
