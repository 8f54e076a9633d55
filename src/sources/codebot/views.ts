import type { Document } from "../../session/document.ts";
import type { SessionKey } from "../../session/key.ts";
import type { ModelRequest } from "../../usage/request.ts";
import type { Page, PageRequest, Transcript, ViewName } from "../source.ts";
import { type Beside, messageOf, readPlan } from "./beside.ts";
import { branchesDocument } from "./documents/branches.ts";
import { goalDocument } from "./documents/goal.ts";
import { historyDocument } from "./documents/history.ts";
import { infoDocument } from "./documents/info.ts";
import { planDocument } from "./documents/plan.ts";
import { tasksDocument } from "./documents/tasks.ts";
import { teamDocument } from "./documents/team.ts";
import { usageDocument } from "./documents/usage.ts";
import type { Held } from "./held.ts";
import { readHistory } from "./history.ts";
import { historyFile, transcriptsDirectory } from "./layout.ts";
import { type MemberFacts, memberFacts, memberPage, memberTranscript } from "./member-transcript.ts";
import type { OpenSessions } from "./open-sessions.ts";
import { memberRequests, requestsOf } from "./requests.ts";
import { SessionTranscript } from "./transcript.ts";

/** The views a session can fill, in the order of their tabs. The history is the project's, so it is there without prompts. */
export function viewsOf({ folded: { state }, beside }: Held): ViewName[] {
  const tree = state.shape === "tree";
  return [
    "timeline",
    "context",
    ...(tree ? (["branches", "usage", "tasks"] as const) : (["usage"] as const)),
    ...(state.chain.plan === null ? [] : (["plan"] as const)),
    ...(state.entries.some((facts) => facts.goal !== undefined) ? (["goal"] as const) : []),
    ...(hasTeam(beside) ? (["team"] as const) : []),
    "history",
    "info",
  ];
}

function hasTeam(beside: Beside): boolean {
  return beside.roster !== null || beside.transcripts.length > 0;
}

export function transcriptOf(sessions: OpenSessions, key: SessionKey): Transcript {
  const now = async () => {
    const { held, state } = await sessions.fresh(key);
    const { path, folded } = held;
    return { path, identity: `${folded.dev}:${folded.ino}`, state };
  };
  const member = async (name: string, request: PageRequest): Promise<Page> => {
    const { root, id } = sessions.must(key);
    const transcript = memberTranscript(transcriptsDirectory(root.path, id), name);
    if (transcript === null) throw new Error(`${key} has no conversation of a member ${JSON.stringify(name)}`);
    return memberPage(transcript, request);
  };
  return new SessionTranscript(now, member);
}

export async function documentOf(sessions: OpenSessions, key: SessionKey, view: ViewName): Promise<Document> {
  const { held, state } = await sessions.fresh(key);
  const { root, id, snapshot } = held;
  switch (view) {
    case "branches":
      return branchesDocument(state);
    case "tasks":
      sessions.look(held);
      return tasksDocument(held.beside);
    case "plan":
      return planDocument(state, readPlan(root.path, state.chain.planSlug));
    case "goal":
      return goalDocument(state);
    case "team":
      sessions.look(held);
      return teamDocument(held.beside, membersOf(held));
    case "history":
      return historyDocument(readHistory(historyFile(root.path)), state.header?.cwd ?? "", id);
    default: {
      if (snapshot === null) throw new Error(`${key} is not a session yet`);
      return view === "usage" ? usageDocument(state, snapshot) : infoDocument(state, snapshot, held.folded.size);
    }
  }
}

/** What is known of each member that has a conversation; a message where it cannot be read. */
function membersOf({ root, id, beside }: Held): Map<string, MemberFacts | string> {
  const members = new Map<string, MemberFacts | string>();
  for (const { name } of beside.transcripts) {
    try {
      const transcript = memberTranscript(transcriptsDirectory(root.path, id), name);
      if (transcript !== null) members.set(name, memberFacts(transcript));
    } catch (error) {
      members.set(name, messageOf(error));
    }
  }
  return members;
}

/** The session's own calls, then its members' by name. */
export async function allRequests(sessions: OpenSessions, key: SessionKey): Promise<ModelRequest[]> {
  const { held, state } = await sessions.fresh(key);
  const requests = requestsOf(state).map(({ name, request }) =>
    sessions.isCopied(key, name) ? { ...request, copied: true } : request,
  );
  for (const [name, facts] of membersOf(held)) {
    if (typeof facts !== "string") requests.push(...memberRequests(held.id, name, facts));
  }
  return requests;
}
