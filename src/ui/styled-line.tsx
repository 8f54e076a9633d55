import { Text } from "ink";
import { createElement, memo, useContext } from "react";
import { STATUSES } from "../session/status.ts";
import { Appearance } from "./appearance.ts";
import { asciiText } from "./text/ascii.ts";
import type { Span } from "./text/line.ts";
import { lookOf, type TextLook, type Theme } from "./theme.ts";
import { paintColour, type TonedSpan } from "./toned.ts";

interface Props {
  line: readonly TonedSpan[];
}

/** One row of the screen, already cut to its width. Drawn again only when it is another line. */
export const StyledLine = memo(function StyledLine({ line }: Props) {
  const { theme, ascii } = useContext(Appearance);
  // An empty row still takes a row.
  if (line.length === 0) return <Text> </Text>;
  // Spans are told apart by their place alone, so they are children, not a list that would need keys.
  const spans = line.map((piece) => createElement(Text, look(piece, theme), linked(piece, ascii)));
  return createElement(Text, { wrap: "truncate-end" }, ...spans);
});

function look(piece: TonedSpan, theme: Theme): TextLook {
  if (piece.tone) return theme.tones[STATUSES[piece.tone].tone];
  const color = piece.paint === undefined ? null : paintColour(piece.paint, theme.depth);
  return color === null ? lookOf(piece, theme) : { ...lookOf(piece, theme), color };
}

/** A terminal hyperlink (OSC 8); where it leads was checked when the line was laid out. */
function linked({ text, href }: Span, ascii: boolean): string {
  const shown = ascii ? asciiText(text) : text;
  return href === undefined ? shown : `\u001b]8;;${href}\u0007${shown}\u001b]8;;\u0007`;
}
