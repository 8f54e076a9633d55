/** At most `limit` bytes of a text, cut between characters, and how many bytes were left out. */
export function clipText(
  text: string,
  limit: number | undefined,
  cuts: ReadonlyMap<string, number>,
): { text: string; clipped: number } {
  const bytes = Buffer.byteLength(text);
  const total = Math.max(bytes, cuts.get(text) ?? 0);
  if (limit === undefined || bytes <= limit) return { text, clipped: total - bytes };
  const buffer = Buffer.from(text);
  let end = Math.max(0, limit);
  while (end > 0 && ((buffer[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return { text: buffer.toString("utf8", 0, end), clipped: total - end };
}

/** Bytes behind base64 text of this many characters. */
export function base64Bytes(text: string, cuts: ReadonlyMap<string, number>): number {
  const length = cuts.get(text) ?? text.length;
  const padding = cuts.has(text) ? 0 : text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((length * 3) / 4) - padding);
}
