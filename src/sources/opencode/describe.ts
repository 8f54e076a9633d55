import { type SessionKey, sessionKey } from "../../session/key.ts";
import { blankSnapshot, type Snapshot } from "../../session/snapshot.ts";
import { cleanLine, titleLine } from "../../session/untrusted.ts";
import { type PriceBook, pricedUsage } from "../../usage/prices.ts";
import { contextLimit } from "../by-process/context-limit.ts";
import type { DescribedRequests } from "../by-process/described-sessions.ts";
import { isoTime } from "../jsonl/record.ts";
import type { Root } from "../source.ts";
import type { Lineage } from "./forks.ts";
import { requestsOf } from "./requests.ts";
import { hasTokens, type SessionFacts } from "./session-facts.ts";
import { givenTitle, isForkTitle } from "./titles.ts";
import { taskCounts } from "./todos.ts";

const SOURCE = "opencode";

export interface OpencodeParts {
  root: Root;
  facts: SessionFacts;
  lineage: Lineage;
  children: readonly string[];
  prices: PriceBook | null;
  /** The key of a session we know, null for others. */
  keyOf(id: string): SessionKey | null;
  /** The command that resumes it, null when there is none. */
  resume: string[] | null;
}

/** One session of OpenCode as its store says (agents.md §4, design §4). */
export function describe(parts: OpencodeParts): DescribedRequests {
  const { root, facts, lineage, prices } = parts;
  const { session, counts } = facts;
  const requests = requestsOf(facts, lineage);
  // Of a session that was not read, and whose row records no sums, nobody can say: shown as unknown, never as 0.
  const unknown = facts.brief && requests.length === 0;
  const { usage, own } = unknown ? { usage: null, own: null } : pricedUsage(requests, prices);
  const title = titleOf(facts);
  const forkKey = lineage.forkOf === null ? null : parts.keyOf(lineage.forkOf);
  const snapshot: Snapshot = {
    ...blankSnapshot({
      key: sessionKey(SOURCE, root.index, session.id),
      source: SOURCE,
      id: session.id,
      root: root.path,
      path: session.path,
    }),
    title: title.title,
    name: title.from === "title" ? title.title : null,
    agent: SOURCE,
    models: modelsOf(facts),
    cwd: session.cwd,
    project: session.cwd,
    createdAt: isoTime(session.createdAt),
    updatedAt: isoTime(session.updatedAt),
    messages: facts.brief ? facts.stored : counts.human + counts.assistant,
    usage,
    // Of a fork's row nobody can say which part was copied: better nothing than counted twice.
    own: facts.brief && isFork(facts, lineage) ? null : own,
    context: contextOf(facts, prices),
    parent: parentOf(parts, forkKey),
    tasks: taskCounts(facts.todos),
    resume: parts.resume === null ? null : { argv: parts.resume, cwd: session.cwd },
    damage: facts.bad > 0 ? [{ kind: `bad-rows: ${facts.bad}`, bytes: null, line: null }] : [],
    hidden: session.parentId !== null,
    extra: {
      titleFrom: title.from,
      firstPrompt: facts.firstPrompt,
      lastPrompt: facts.lastPrompt,
      counts: facts.brief ? null : { ...counts, toolCalls: facts.toolCalls },
      reverted: session.revert === null ? null : { fromMessage: session.revert.message, ...facts.reverted },
      compactions: facts.compactions,
      store: session.generation,
      forkOf: forkKey === null ? null : lineage.forkOf,
      forkOfMissing: lineage.forkOf !== null && forkKey === null,
      children: [...parts.children],
      kind: session.parentId === null ? "main" : "subagent",
      archived: session.archived,
      version: session.version,
      mode: session.agent,
      brief: facts.brief,
      edits: facts.edits,
    },
  };
  const seat = {
    id: session.id,
    cwd: session.cwd,
    updatedAt: session.updatedAt,
    createdAt: session.createdAt,
    parent: session.parentId,
    open: facts.tail.state === "open",
    store: session.generation,
  };
  return { snapshot, tail: facts.tail, seat, archived: session.archived, requests };
}

function isFork({ session }: SessionFacts, lineage: Lineage): boolean {
  return lineage.forkOf !== null || isForkTitle(session.title);
}

function titleOf({ session, firstPrompt }: SessionFacts): { title: string; from: "title" | "first prompt" | "id" } {
  const given = givenTitle(session.title);
  if (given !== null) return { title: given, from: "title" };
  const asked = titleLine(firstPrompt ?? "");
  return asked === "" ? { title: session.id, from: "id" } : { title: asked, from: "first prompt" };
}

function modelsOf(facts: SessionFacts): string[] {
  const models = new Set<string>();
  for (const { role, model } of facts.messages)
    if (role === "assistant" && model !== null) models.add(cleanLine(model));
  return [...models];
}

/** Tokens of the last visible reply that is no summary; none since a compaction is none. */
function contextOf(facts: SessionFacts, prices: PriceBook | null): Snapshot["context"] {
  for (const message of facts.messages.slice(0, facts.visible).toReversed()) {
    if (message.summary || message.role === "compaction") return null;
    if (message.role !== "assistant" || !hasTokens(message.tokens)) continue;
    const { input, output, reasoning, cacheRead, cacheWrite } = message.tokens;
    return {
      used: input + output + reasoning + cacheRead + cacheWrite,
      limit: contextLimit(prices, message.provider, message.model, isoTime(message.createdAt)),
    };
  }
  return null;
}

function parentOf(parts: OpencodeParts, forkKey: SessionKey | null): Snapshot["parent"] {
  const { parentId } = parts.facts.session;
  if (parentId !== null) {
    const key = parts.keyOf(parentId);
    return key === null ? null : { key, relation: "subagent" };
  }
  return forkKey === null ? null : { key: forkKey, relation: "fork" };
}
