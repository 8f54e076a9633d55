/** Looks for any of several byte strings, ASCII letters in either case. */
export interface ByteFinder {
  /** Bytes of the longest one: what two reads must share so that none is missed between them. */
  longest: number;
  /** Does any of them lie within the first `length` bytes? */
  isIn(bytes: Uint8Array, length: number): boolean;
}

const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte));
const MOST_SKIP = 255;

/**
 * Horspool's search over a set: looks at the last byte of a window as long as the shortest text, and skips as far as
 * no text can end. In JavaScript faster than `Buffer.indexOf` once case must not matter, because nothing is copied.
 */
export function byteFinder(texts: readonly string[]): ByteFinder {
  const patterns = texts.map((text) => Uint8Array.from(Buffer.from(text), (byte) => LOWER[byte] ?? byte));
  const window = Math.min(MOST_SKIP, ...patterns.map((pattern) => pattern.length));
  if (window === 0 || patterns.length === 0) throw new Error("nothing to look for");
  const skips = new Uint8Array(256).fill(window);
  for (const pattern of patterns) {
    for (let at = 0; at < window; at += 1) {
      const byte = pattern[at] ?? 0;
      const skip = Math.min(skips[byte] ?? 0, window - 1 - at);
      skips[byte] = skip;
      if (byte >= 0x61 && byte <= 0x7a) skips[byte - 0x20] = skip;
    }
  }
  const isIn = (bytes: Uint8Array, length: number): boolean => {
    let end = window - 1;
    while (end < length) {
      const skip = skips[bytes[end] ?? 0] ?? 1;
      if (skip !== 0) {
        end += skip;
        continue;
      }
      const start = end - window + 1;
      for (const pattern of patterns) if (isAt(bytes, length, start, pattern)) return true;
      end += 1;
    }
    return false;
  };
  return { longest: Math.max(...patterns.map((pattern) => pattern.length)), isIn };
}

function isAt(bytes: Uint8Array, length: number, start: number, pattern: Uint8Array): boolean {
  if (start + pattern.length > length) return false;
  for (let at = pattern.length - 1; at >= 0; at -= 1) {
    if (LOWER[bytes[start + at] ?? 0] !== pattern[at]) return false;
  }
  return true;
}
