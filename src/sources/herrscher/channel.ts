import type { ActionName } from "../../session/snapshot.ts";
import type { Daemon } from "./daemon.ts";
import type { RowFacts } from "./row.ts";

/** How a command reaches herrscher: the daemon's socket, else the program, else not at all (herrscher.md §9). */
export type Channel = { by: "socket" } | { by: "program"; program: string } | { by: "none"; why: string };

/** `ownName`: the program only knows a state file of the usual name. */
export function channelOf(daemon: Daemon | null, program: string | null, ownName: boolean): Channel {
  const none = (why: string): Channel => ({ by: "none", why });
  if (daemon === null) return none("its daemon is being asked: try again in a moment");
  if (daemon.world === "ours" && daemon.state === "up") return { by: "socket" };
  if (daemon.world === "other") return none("the socket belongs to a daemon with other sessions: it gets nothing");
  if (daemon.world === "foreign") return none("the socket is not one of this user: it gets nothing");
  if (daemon.world === "untold")
    return none("nothing proves that the daemon behind the socket is this root's: it gets nothing");
  if (daemon.state === "up") return none(`a daemon runs, but its socket does not answer: ${daemon.why.at(-1) ?? ""}`);
  if (daemon.state === "unknown") return none(`it is not known whether a daemon runs: ${daemon.why[0] ?? ""}`);
  if (!ownName) return none("no daemon runs, and the herrscher program cannot be told of this state file");
  if (program === null) return none("no daemon runs, and there is no herrscher program on PATH");
  return { by: "program", program };
}

export type Verb = "archive" | "resume" | "close" | "budget" | "send" | "interrupt" | "switch" | "create" | "seed";

/** Why a verb cannot be used on a session now, null when it can. */
export function disabledReason(verb: Verb, facts: RowFacts, channel: Channel): string | null {
  const { row, session } = facts;
  if (!row.nameValid) return "the row is damaged: herrscher could not be told which session is meant";
  if (row.duplicate) return "an earlier row has the same name: herrscher would act on that one";
  if (channel.by === "none") return channel.why;
  switch (verb) {
    case "archive":
      return session.archived ? "it is archived already" : null;
    case "resume":
      return session.archived ? null : "it is not archived";
    case "send":
    case "interrupt":
      if (channel.by !== "socket") return "no daemon runs: nobody would take it";
      return session.archived ? "it is archived: resume it first" : null;
    case "close":
      // Without a daemon the program would look for a relative worktree in its own directory.
      if (channel.by === "program" && session.worktree !== "" && !session.worktree.startsWith("/")) {
        return "its worktree is relative to the daemon's directory: start the daemon there, then close it";
      }
      return null;
    default:
      return null;
  }
}

const NAMES: readonly [Verb, ActionName][] = [
  ["archive", "archive"],
  ["send", "send"],
  ["interrupt", "interrupt"],
  ["close", "close"],
  ["budget", "budget"],
  ["switch", "switch"],
  ["create", "spawn"],
];

/** The words of `can` for a session. */
export function availableTo(facts: RowFacts, channel: Channel, resumable: boolean): ActionName[] {
  const verbs = NAMES.filter(([verb]) => disabledReason(verb, facts, channel) === null).map(([, name]) => name);
  return resumable ? ["resume", ...verbs] : verbs;
}
