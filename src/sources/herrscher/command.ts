import { connect } from "node:net";
import { isValidName } from "./names.ts";
import { socketFile } from "./sockets.ts";

export type CommandFailure = "absent" | "foreign" | "refused" | "silent" | "malformed" | "err";

/** Why a command was not done. `err`: the daemon said so, and the message is its own. */
export class CommandFailed extends Error {
  override name = "CommandFailed";
  readonly kind: CommandFailure;
  constructor(kind: CommandFailure, message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface CommandTimes {
  /** ms until the connection stands. */
  connectMs: number;
  /** ms until the whole answer is there. */
  answerMs: number;
}

/** The official client's times (herrscher.md §6). */
const COMMAND_TIMES: CommandTimes = { connectMs: 500, answerMs: 30_000 };

const MOST_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * One request over the command socket: one line there, one line back (herrscher.md §6). Returns the text of `ok`,
 * which may be "". Throws {@link CommandFailed}; a daemon that does not answer in time costs that, never more.
 */
export async function sendCommand(
  path: string,
  argv: readonly string[],
  times: CommandTimes = COMMAND_TIMES,
): Promise<string> {
  const file = socketFile(path);
  if (file === "absent") throw new CommandFailed("absent", `no daemon listens at ${path}`);
  if (file === "foreign") {
    throw new CommandFailed("foreign", `${path} is not a socket of this user: nothing was sent`);
  }
  return parseAnswer(await exchange(path, `${JSON.stringify({ argv })}\n`, times));
}

function exchange(path: string, request: string, times: CommandTimes): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const pieces: Buffer[] = [];
    let bytes = 0;
    const fail = (kind: CommandFailure, message: string): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(new CommandFailed(kind, message));
    };
    const late = (): void => fail("silent", `the daemon did not accept a connection within ${times.connectMs} ms`);
    let timer = setTimeout(late, times.connectMs);
    socket.on("connect", () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const where = bytes > 0 ? "stopped in the middle of its answer" : "did not answer";
        fail("silent", `the daemon ${where} (${times.answerMs / 1000} s)`);
      }, times.answerMs);
      socket.write(request);
    });
    socket.on("data", (piece: Buffer) => {
      const end = piece.indexOf(0x0a);
      pieces.push(end < 0 ? piece : piece.subarray(0, end));
      bytes += piece.length;
      if (end >= 0) {
        clearTimeout(timer);
        socket.destroy();
        resolve(Buffer.concat(pieces).toString("utf8"));
      } else if (bytes > MOST_ANSWER_BYTES) fail("malformed", "the answer is larger than any answer is");
    });
    socket.on("close", () => fail("malformed", "the daemon closed the connection without a whole answer"));
    socket.on("error", (error) => {
      const code = "code" in error ? String(error.code) : error.message;
      fail("refused", `nothing accepts connections at ${path} (${code})`);
    });
  });
}

function parseAnswer(line: string): string {
  let answer: unknown;
  try {
    answer = JSON.parse(line);
  } catch {
    throw new CommandFailed("malformed", "the answer is not JSON");
  }
  if (typeof answer === "object" && answer !== null) {
    if ("err" in answer && typeof answer.err === "string") throw new CommandFailed("err", answer.err);
    if ("ok" in answer && typeof answer.ok === "string") return answer.ok;
  }
  throw new CommandFailed("malformed", "the answer holds neither ok nor err");
}

/** A row of `session list --json`, as far as it is needed to know a session again (herrscher.md §9). */
export interface ListedSession {
  name: string;
  incarnation: string;
  /** How far the delegates of a lead are; only the daemon knows. */
  coordination: { role: string; lead: string; reported: number; expected: number; complete: boolean } | null;
}

/** Reads the string inside `ok` of `session list --json`; null when it is not one. */
export function parseSessionList(ok: string): ListedSession[] | null {
  let list: unknown;
  try {
    list = JSON.parse(ok);
  } catch {
    return null;
  }
  if (list === null) return [];
  if (!Array.isArray(list)) return null;
  const rows: ListedSession[] = [];
  for (const item of list) {
    const row = record(item);
    const name = row.name;
    if (typeof name !== "string" || !isValidName(name)) continue;
    const incarnation = typeof row.incarnation === "string" ? row.incarnation : "";
    rows.push({ name, incarnation, coordination: parseCoordination(row.coordination) });
  }
  return rows;
}

function parseCoordination(value: unknown): ListedSession["coordination"] {
  if (typeof value !== "object" || value === null) return null;
  const { role, lead, reported, expected, complete } = record(value);
  return {
    role: typeof role === "string" ? role : "",
    lead: typeof lead === "string" ? lead : "",
    reported: typeof reported === "number" ? reported : 0,
    expected: typeof expected === "number" ? expected : 0,
    complete: complete === true,
  };
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
