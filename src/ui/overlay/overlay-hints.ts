import type { Overlay } from "../../store/view.ts";

/** A key and what it does, for the bottom line. */
export interface Hint {
  key: string;
  title: string;
}

const CHOOSE: Hint = { key: "down", title: "next" };
const CLOSE: Hint = { key: "esc", title: "close" };
const LEAVE: Hint = { key: "esc", title: "leave it" };

/** What `overlayKey` does with the keys of what lies on top: it owns the keyboard, so these stand in the bottom line. */
export function overlayHints(overlay: Overlay): Hint[] {
  const enter = (title: string): Hint => ({ key: "enter", title });
  switch (overlay.type) {
    case "help":
    case "why":
    case "problems":
      return [{ key: "j", title: "down" }, { key: "k", title: "up" }, CLOSE];
    case "filter":
      return [enter("keep"), { key: "esc", title: "show all" }];
    case "search":
      return [enter("find"), LEAVE];
    case "palette":
      return [enter("run"), CLOSE, CHOOSE];
    case "menu":
      return [enter("choose"), CLOSE, CHOOSE];
    case "picker": {
      if (overlay.items.length === 0) return [CLOSE];
      const aside = overlay.items.find((item) => item.aside)?.aside;
      return [enter("open"), ...(aside ? [{ key: "x", title: aside.title }] : []), CLOSE, CHOOSE];
    }
    case "ask":
      return [enter(overlay.verb), LEAVE];
    case "confirm":
      return [
        { key: "y", title: overlay.question.verb },
        { key: "n", title: "leave it" },
      ];
    case "form":
      return [enter("next"), { key: "up", title: "back" }, LEAVE];
  }
}
