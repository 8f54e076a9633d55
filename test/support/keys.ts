/** What a terminal sends for a key. `j`, `G` and the like are themselves; `ctrl+d`, `alt+x` and `shift+Tab` are combined. */
const NAMED: Record<string, string> = {
  Enter: "\r",
  Escape: "\x1b",
  Tab: "\t",
  "shift+Tab": "\x1b[Z",
  Space: " ",
  Backspace: "\x7f",
  Delete: "\x1b[3~",
  Up: "\x1b[A",
  Down: "\x1b[B",
  Right: "\x1b[C",
  Left: "\x1b[D",
  Home: "\x1b[H",
  End: "\x1b[F",
  PageUp: "\x1b[5~",
  PageDown: "\x1b[6~",
};

/** The same keys by tmux's names. */
const TMUX: Record<string, string> = {
  "shift+Tab": "BTab",
  Backspace: "BSpace",
  Delete: "DC",
  PageUp: "PPage",
  PageDown: "NPage",
};

/** Throws on a name that is none. */
export function keyBytes(key: string): string {
  const named = NAMED[key];
  if (named !== undefined) return named;
  const control = /^ctrl\+([a-z@[\\\]^_])$/u.exec(key)?.[1];
  if (control !== undefined) return String.fromCharCode(control.toUpperCase().charCodeAt(0) & 0x1f);
  const alt = /^alt\+(.+)$/u.exec(key)?.[1];
  if (alt !== undefined) return `\x1b${keyBytes(alt)}`;
  if ([...key].length === 1) return key;
  throw new Error(`no key is called ${JSON.stringify(key)}`);
}

export function tmuxKey(key: string): string {
  const control = /^ctrl\+(.)$/u.exec(key)?.[1];
  if (control !== undefined) return `C-${control}`;
  const alt = /^alt\+(.)$/u.exec(key)?.[1];
  if (alt !== undefined) return `M-${alt}`;
  return TMUX[key] ?? key;
}
