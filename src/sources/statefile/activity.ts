import { openRegular } from "../../files/open.ts";
import { callSummary } from "../../session/call-summary.ts";
import { titleLine } from "../../session/untrusted.ts";
import { isTextType } from "./chain.ts";
import type { BodyAt, StateOfFile } from "./fold.ts";

const LOOK = 4096;

/** One line on what the session does or said last: a call that waits, else the newest text, message or error. */
export function activityOf(path: string, state: StateOfFile): string | null {
  const { lastCall, lastSaid } = state;
  const waits = lastCall !== null && (state.waiting.length > 0 || lastCall.n > (lastSaid?.n ?? 0));
  const body = waits ? lastCall : lastSaid;
  if (body === null) return null;
  const text = head(path, body);
  if (text === null) return body.type === null ? null : `${body.type}, ${body.len} bytes`;
  const line = body === lastCall ? callLine(text, body) : titleLine(text);
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
  const name = /"name"\s*:\s*"([^"\\]{1,60})"/u.exec(text)?.[1];
  return name === undefined ? `call of ${body.len} bytes` : callSummary(name, null);
}

function head(path: string, body: BodyAt): string | null {
  if (!isTextType(body.type ?? "text/plain")) return null;
  try {
    using file = openRegular(path);
    return file.read(body.at, Math.min(LOOK, body.len)).toString("utf8");
  } catch {
    return null;
  }
}
