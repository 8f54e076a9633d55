import type { Writable } from "node:stream";

/**
 * Copies text: OSC 52 to the terminal (wrapped for tmux, which also takes it into its own buffer), and the system's
 * clipboard where there is one. Returns which of them took it.
 */
export async function copyText(text: string, terminal: Writable, env: NodeJS.ProcessEnv): Promise<string[]> {
  const took: string[] = [];
  const encoded = Buffer.from(text).toString("base64");
  // Terminals cut or refuse longer ones; the system clipboard still takes them.
  if (encoded.length <= 100_000) {
    terminal.write(osc52(encoded, env));
    took.push(env.TMUX ? "tmux and the terminal" : "the terminal");
  }
  if (env.DISPLAY || env.WAYLAND_DISPLAY || process.platform !== "linux") {
    try {
      const { default: clipboard } = await import("clipboardy");
      await clipboard.write(text);
      took.push("the system clipboard");
    } catch {
      // No clipboard program: the terminal's own way has to do.
    }
  }
  return took;
}

/** The escape sequence; tmux hands it on only inside its own wrapper, with every ESC doubled. */
export function osc52(base64: string, env: NodeJS.ProcessEnv): string {
  const sequence = `\u001b]52;c;${base64}\u0007`;
  if (!env.TMUX) return sequence;
  return `${sequence}\u001bPtmux;${sequence.replaceAll("\u001b", "\u001b\u001b")}\u001b\\`;
}
