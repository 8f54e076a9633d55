import { useSyncExternalStore } from "react";
import { useStore } from "zustand";
import type { KeyCommand } from "./keymap.ts";
import { keyLabel } from "./keys.ts";
import type { Screen } from "./screen.ts";
import { StyledLine } from "./styled-line.tsx";
import { cutLine, type Line, lineWidth, span } from "./text/line.ts";

interface Props {
  screen: Screen;
  keymap: readonly KeyCommand[];
  width: number;
}

/** The bottom line: what happened just now, else the keys of the place one is in, as many as fit. */
export function Footer({ screen, keymap, width }: Props) {
  const toast = useStore(screen.store, (state) => state.view.toast);
  useStore(screen.store, (state) => state.view.focus);
  useSyncExternalStore(screen.subscribePane, () => screen.pane());
  if (toast) {
    const style = toast.tone === "bad" ? "bad" : toast.tone === "good" ? "good" : "strong";
    return <StyledLine line={cutLine([span(` ${toast.text}`, style)], width)} />;
  }
  return <StyledLine line={keyLine(keymap, screen, width)} />;
}

export function keyLine(keymap: readonly KeyCommand[], screen: Screen, width: number): Line {
  const place = screen.place();
  const shown = keymap
    .filter((command) => command.footer !== undefined && command.where.includes(place))
    .sort((a, b) => (a.footer ?? 0) - (b.footer ?? 0));
  // Help is always in reach, also where little fits.
  const help = shown.find((command) => command.id === "screen.help");
  const helpLine: Line = help ? hint(help) : [];
  const line: Line = [span(" ")];
  for (const command of shown) {
    if (command === help) continue;
    const next = hint(command);
    if (lineWidth(line) + lineWidth(next) + lineWidth(helpLine) + 2 > width) break;
    line.push(...next, span("  "));
  }
  return cutLine([...line, ...helpLine], width);
}

function hint(command: KeyCommand): Line {
  return [span(keyLabel(command.keys[0] ?? ""), "accent"), span(` ${command.title}`, "faint")];
}
