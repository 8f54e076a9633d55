import { isAbsolute, join } from "node:path";
import type { ResumeCommand } from "../../session/snapshot.ts";
import { type RowFacts, shownDirectory } from "./row.ts";

export type ResumePlan = { ok: true; command: ResumeCommand; notes: string[] } | { ok: false; reason: string };

export interface ResumePlace {
  /** Directory of the state file. */
  dir: string;
  /** Is that where the program looks by itself? */
  isDefault: boolean;
  /** The herrscher program, null when it is not on PATH. */
  program: string | null;
}

/** Opaque, but it becomes an argument: never one that could be taken for a flag. */
const TOKEN = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$/u;

const BY_HAND: Record<string, (token: string) => string[]> = {
  claude: (token) => ["claude", "--resume", token],
  codex: (token) => ["codex", "resume", token],
  cursor: (token) => ["cursor-agent", "--resume", token],
};

/**
 * How to go on with a session (herrscher.md §8): a live one is opened where it is; an archived one, or any while the
 * daemon is down, with the vendor's own command.
 */
export function planResume(facts: RowFacts, place: ResumePlace): ResumePlan {
  const { daemon, row, session } = facts;
  if (!row.nameValid) return { ok: false, reason: "the row is damaged: there is nothing that could be resumed" };
  if (row.duplicate)
    return { ok: false, reason: "an earlier row has the same name: the program only ever finds that one" };
  if (!session.archived && daemon?.state === "up") return attach(facts, place);
  if (!session.archived && daemon?.state !== "down") {
    return {
      ok: false,
      reason: "it is not known whether a daemon drives it: two processes would fork the conversation",
    };
  }
  return byHand(facts);
}

function attach({ daemon }: RowFacts, place: ResumePlace): ResumePlan {
  if (daemon?.world === "other" || daemon?.world === "foreign") {
    return { ok: false, reason: "the daemon's socket belongs to another daemon: open the session in its own terminal" };
  }
  if (place.program === null) {
    return { ok: false, reason: "the daemon drives it, and there is no herrscher program on PATH to attach with" };
  }
  const bare = ["herrscher"];
  const argv = place.isDefault ? bare : ["env", `HERRSCHER_STATE_DIR=${place.dir}`, ...bare];
  const notes = ["attaches to the running daemon (herrscher 0.11 or newer), which goes on when you leave"];
  return { ok: true, command: { argv, cwd: null }, notes };
}

function byHand(facts: RowFacts): ResumePlan {
  const { daemonCwd, invocation, session } = facts;
  if (session.backend === "oneshot") return { ok: false, reason: "one-shot backends keep no conversation" };
  if (session.resumeToken === "") return { ok: false, reason: "no reply has brought a resume token yet" };
  if (!TOKEN.test(session.resumeToken))
    return { ok: false, reason: "its resume token is not one a command could take" };
  const make =
    invocation.vendor !== null && Object.hasOwn(BY_HAND, invocation.vendor) ? BY_HAND[invocation.vendor] : null;
  if (!make) return { ok: false, reason: "its vendor is not one whose resume command is known" };
  const shown = shownDirectory(session);
  const relative = !isAbsolute(shown);
  if (relative && daemonCwd === null) {
    const where = shown === "" ? "it ran in the daemon's directory" : `${shown} is relative to the daemon's directory`;
    return { ok: false, reason: `${where}, which is stored nowhere` };
  }
  const cwd = relative ? join(daemonCwd ?? "", shown) : shown;
  const why = session.archived ? "it is archived" : "no daemon runs";
  const notes = [
    `${why}: ${invocation.vendor}'s own command goes on with the conversation outside herrscher`,
    "herrscher's transcript will not see it, and a daemon that revives the session meanwhile forks the conversation",
  ];
  return { ok: true, command: { argv: make(session.resumeToken), cwd }, notes };
}
