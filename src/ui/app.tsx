import { Box, useInput, usePaste, useWindowSize } from "ink";
import { useEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import type { Overlay } from "../store/view.ts";
import { Appearance, type Look } from "./appearance.ts";
import { hear } from "./controllers/hearing.ts";
import { Detail } from "./detail/detail.tsx";
import { Footer, toastLines } from "./footer.tsx";
import { Header } from "./header.tsx";
import { commandFor, type KeyCommand } from "./keymap.ts";
import { keyNames } from "./keys.ts";
import { editedLine } from "./line-editor.ts";
import { SessionList } from "./list/session-list.tsx";
import { OverlayFrame } from "./overlay/frame.tsx";
import { type OverlayContent, overlayContent, type Typed } from "./overlay/overlay-content.ts";
import { overlayKey, overlayPaste } from "./overlay/overlay-keys.ts";
import { type Screen, SIDE_BY_SIDE_FROM } from "./screen.ts";
import { StyledLine } from "./styled-line.tsx";
import { useTerminalReports } from "./terminal-reports.ts";
import { type Line, span } from "./text/line.ts";

interface Props {
  screen: Screen;
  keymap: readonly KeyCommand[];
  look: Look;
}

const NOTHING_TYPED: Typed = { line: editedLine(), chosen: 0 };

/** The whole screen, exactly as large as the terminal: header, list and session, footer, and what lies on top. */
export function App({ screen, keymap, look }: Props) {
  const { columns, rows } = useWindowSize();
  const overlay = useStore(screen.store, (state) => state.view.overlay);
  const focus = useStore(screen.store, (state) => state.view.focus);
  const toast = useStore(screen.store, (state) => state.view.toast);
  const [typed, setTyped] = useState(NOTHING_TYPED);
  const kind = useOverlayKind(overlay, screen, setTyped);
  // Keys of one burst are handled before the next drawing: what they typed so far is kept here.
  const latest = useRef(typed);
  latest.current = typed;

  useEffect(() => screen.resized(columns), [screen, columns]);
  useTerminalReports((report) => hear(screen, report));

  useInput((input, key) => {
    for (const name of keyNames(input, key)) {
      screen.unsay();
      const owner = screen.view.overlay;
      if (owner) {
        const next = overlayKey(owner, name, screen, keymap, latest.current);
        const now = screen.view.overlay;
        latest.current = now && now.type !== owner.type ? startTyping(now, screen) : next;
        setTyped(latest.current);
      } else {
        const command = commandFor(keymap, screen.place(), name);
        const why = command?.disabled?.(screen) ?? null;
        if (why !== null) screen.say(`not now: ${why}`);
        else command?.run(screen);
        if (screen.view.overlay) latest.current = startTyping(screen.view.overlay, screen);
      }
    }
  });

  // A terminal marks what was pasted; it is text, never a row of keys that run things.
  usePaste((pasted) => {
    screen.unsay();
    const owner = screen.view.overlay;
    const next = owner && overlayPaste(owner, pasted, screen, latest.current);
    if (next) {
      latest.current = next;
      setTyped(next);
    } else screen.say(`pasted text runs no keys${owner ? "" : "; press / first to filter by it"}`);
  });

  const width = Math.max(1, columns);
  const height = Math.max(1, rows);
  const content = overlay && kind ? overlayContent(overlay, screen, keymap, typed, width) : null;
  const footer = toast ? Math.min(toastLines(toast, width).length, Math.max(1, height - 4)) : 1;
  const room = Math.max(1, height - 1 - footer);
  const overlayRows = content ? Math.min(content.lines.length + 1, Math.max(3, room - 3)) : 0;
  const body = Math.max(0, room - overlayRows);
  const side = width >= SIDE_BY_SIDE_FROM;
  const listWidth = side ? Math.min(60, Math.max(36, Math.floor(width * 0.36))) : width;
  return (
    <Appearance.Provider value={look}>
      {/* Not `width`: after a resize Ink draws the old layout once more, and what is wider than the terminal would wrap. */}
      <Box flexDirection="column" width="100%" height={height} overflow="hidden">
        <Header screen={screen} width={width} />
        <Box width={width} height={body} overflow="hidden">
          {(side || focus === "list") && <SessionList screen={screen} width={listWidth} height={body} />}
          {side && <Divider height={body} ascii={look.ascii} />}
          {(side || focus === "detail") && (
            <Detail screen={screen} width={side ? width - listWidth - 1 : width} height={body} />
          )}
        </Box>
        {content && (
          <OverlayFrame
            title={content.title}
            lines={overlayWindow(content, overlay, typed.chosen, overlayRows - 1)}
            width={width}
            height={overlayRows}
            ascii={look.ascii}
          />
        )}
        <Footer screen={screen} keymap={keymap} width={width} />
      </Box>
    </Appearance.Provider>
  );
}

/** A newly opened overlay begins with nothing chosen and what is to be edited. */
function useOverlayKind(overlay: Overlay | null, screen: Screen, setTyped: (typed: Typed) => void): string | null {
  const kind = overlay?.type ?? null;
  const before = useRef<string | null>(null);
  if (kind !== before.current) {
    before.current = kind;
    if (overlay) setTyped(startTyping(overlay, screen));
  }
  return kind;
}

function startTyping(overlay: Overlay, screen: Screen): Typed {
  if (overlay.type === "filter") return { line: editedLine(screen.view.filter), chosen: 0 };
  if (overlay.type === "ask") return { line: editedLine(overlay.initial), chosen: 0 };
  if (overlay.type === "form") {
    const first = overlay.action.inputs[overlay.field]?.name ?? "";
    return { line: editedLine(overlay.values[first] ?? ""), chosen: 0 };
  }
  return NOTHING_TYPED;
}

/** The part of a long overlay that is in sight: scrolled texts from their top, lists around what is chosen. */
function overlayWindow(
  content: OverlayContent,
  overlay: Overlay | null,
  chosen: number,
  height: number,
): readonly Line[] {
  const { lines } = content;
  if (overlay?.type === "help" || overlay?.type === "why" || overlay?.type === "problems") {
    const top = Math.min(chosen, Math.max(0, lines.length - height));
    return lines.slice(top, top + height);
  }
  const typing = overlay?.type === "palette" || (overlay?.type === "picker" && overlay.typing);
  const fixed = typing ? lines.slice(0, 1) : [];
  const rest = lines.slice(fixed.length);
  const room = height - fixed.length;
  const at = content.chosenAt === undefined ? chosen : content.chosenAt - fixed.length;
  const scrolls = overlay?.type === "palette" || overlay?.type === "picker" || overlay?.type === "menu";
  const top = scrolls ? Math.max(0, Math.min(at - Math.floor(room / 2), rest.length - room)) : 0;
  return [...fixed, ...rest.slice(top, top + room)];
}

function Divider({ height, ascii }: { height: number; ascii: boolean }) {
  const line = [span(ascii ? "|" : "│", "border")];
  const rows = Array.from({ length: height }, (_, row) => `row ${row}`);
  return (
    <Box flexDirection="column" width={1} height={height}>
      {rows.map((row) => (
        <StyledLine key={row} line={line} />
      ))}
    </Box>
  );
}
