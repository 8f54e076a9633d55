import type { ByteSource } from "../../files/fold.ts";
import { callSummary } from "../../session/call-summary.ts";
import { titleLine } from "../../session/untrusted.ts";
import { isTextType } from "./chain.ts";

/** Where a body lies. */
export interface BodyAt {
  n: number;
  kind: string;
  type: string | null;
  at: number;
  len: number;
}

const LOOK = 4096;

/** One line on what a record says or calls, from the head of its body; null when it says nothing. */
export function activityOf(bytes: ByteSource, body: BodyAt): string | null {
  if (!isTextType(body.type ?? "text/plain")) return `${body.type}, ${body.len} bytes`;
  const text = bytes.read(body.at, Math.min(LOOK, body.len)).toString("utf8");
  const line = body.kind === "call" ? callLine(text, body) : titleLine(text);
  return line === "" ? null : line;
}

function callLine(text: string, body: BodyAt): string {
  try {
    const call: unknown = JSON.parse(text);
    if (typeof call === "object" && call !== null && "name" in call && typeof call.name === "string") {
      return callSummary(call.name, "arguments" in call ? call.arguments : null);
    }
  } catch {
    // Cut off in the middle, or not JSON: the name is still worth showing.
  }
  const name = nameInCall(text);
  return name === null ? `call of ${body.len} bytes` : callSummary(name, null);
}

/** The tool's name in the beginning of a call's body; null when it does not stand there. */
export function nameInCall(text: string): string | null {
  return /"name"\s*:\s*"([^"\\]{1,60})"/u.exec(text.slice(0, LOOK))?.[1] ?? null;
}
