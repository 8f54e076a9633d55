import { Box } from "ink";
import { useSyncExternalStore } from "react";
import { useStore } from "zustand";
import type { Toast } from "../store/view.ts";
import type { KeyCommand } from "./keymap.ts";
import { keyLabel } from "./keys.ts";
import { type Hint, overlayHints } from "./overlay/overlay-hints.ts";
import type { Screen } from "./screen.ts";
import { StyledLine } from "./styled-line.tsx";
import { cutLine, type Line, lineWidth, span } from "./text/line.ts";
import { printableLine } from "./text/printable.ts";
import { wrapSpans } from "./text/wrap.ts";

interface Props {
  screen: Screen;
  keymap: readonly KeyCommand[];
  width: number;
}

/** A message may push the rest of the screen up this far: what went wrong is never cut in a narrow pane. */
const MOST_TOAST_ROWS = 5;

/** The bottom: what happened just now, else the keys of the place one is in, as many as fit. */
export function Footer({ screen, keymap, width }: Props) {
  const toast = useStore(screen.store, (state) => state.view.toast);
  const overlay = useStore(screen.store, (state) => state.view.overlay);
  useStore(screen.store, (state) => state.view.focus);
  useSyncExternalStore(screen.subscribePane, () => screen.pane());
  if (toast) {
    const lines = toastLines(toast, width);
    return (
      <Box flexDirection="column" width={width} height={lines.length}>
        {lines.map((line, row) => (
          <StyledLine key={`row ${String(row)}`} line={line} />
        ))}
      </Box>
    );
  }
  const hint = ({ key, title }: Hint): Line => [
    span(keyLabel(key, screen.ascii), "accent"),
    span(` ${title}`, "faint"),
  ];
  const line = overlay ? hintLine(overlayHints(overlay).map(hint), [], width) : keyLine(keymap, screen, width, hint);
  return <StyledLine line={line} />;
}

/** A message in as many rows as it needs, up to a few. */
export function toastLines(toast: Toast, width: number): Line[] {
  const style = toast.tone === "bad" ? "bad" : toast.tone === "good" ? "good" : "strong";
  const margin: Line = [span(" ")];
  const lines = wrapSpans([span(printableLine(toast.text), style)], Math.max(2, width), { first: margin });
  if (lines.length <= MOST_TOAST_ROWS) return lines;
  const last = [...(lines[MOST_TOAST_ROWS - 1] ?? []), span(" …", style)];
  return [...lines.slice(0, MOST_TOAST_ROWS - 1), cutLine(last, width)];
}

function keyLine(keymap: readonly KeyCommand[], screen: Screen, width: number, hint: (hint: Hint) => Line): Line {
  const place = screen.place();
  const shown = keymap
    .filter((command) => command.footer !== undefined && command.where.includes(place))
    .sort((a, b) => (a.footer ?? 0) - (b.footer ?? 0));
  const hintOf = (command: KeyCommand): Line => hint({ key: command.keys[0] ?? "", title: command.title });
  // Help is always in reach, also where little fits.
  const help = shown.find((command) => command.id === "screen.help");
  const others = shown.filter((command) => command !== help).map(hintOf);
  return hintLine(others, help ? hintOf(help) : [], width);
}

/** As many hints as fit before the last one. */
function hintLine(hints: readonly Line[], last: Line, width: number): Line {
  const line: Line = [span(" ")];
  for (const next of hints) {
    if (lineWidth(line) + lineWidth(next) + lineWidth(last) + 2 > width) break;
    line.push(...next, span("  "));
  }
  return cutLine([...line, ...last], width);
}
