import type { StatusName } from "../session/status.ts";
import type { Span } from "./text/line.ts";

/** A span that shows a status takes that status's colour in place of its style's. */
export type TonedSpan = Span & { tone?: StatusName };

export function toned(text: string, status: StatusName): TonedSpan {
  return { text, style: "text", tone: status };
}
