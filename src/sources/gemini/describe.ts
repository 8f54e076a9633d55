import { absolutes, type Edit, lastEdited, noteEdits } from "../../session/edited-files.ts";
import { type SessionKey, sessionKey } from "../../session/key.ts";
import { blankSnapshot, type Snapshot } from "../../session/snapshot.ts";
import { cleanLine, lineOrNull, titleLine } from "../../session/untrusted.ts";
import { type PriceBook, pricedUsage } from "../../usage/prices.ts";
import type { ModelRequest } from "../../usage/request.ts";
import { contextLimit } from "../by-process/context-limit.ts";
import type { DescribedRequests } from "../by-process/described-sessions.ts";
import { lineDamage } from "../jsonl/folded-lines.ts";
import { isoTime } from "../jsonl/record.ts";
import { type GeminiFile, type GeminiMessage, messagesOf } from "./file.ts";
import type { Candidate } from "./sessions.ts";
import { tailOf } from "./tail.ts";

const SOURCE = "gemini";

export interface GeminiParts {
  candidate: Candidate;
  /** Other files of the same id, updated earlier: they may have numbers this one lost (agents.md §5.2). */
  twins: readonly Candidate[];
  project: { path: string; from: string } | null;
  origin: string | null;
  ownerOf(message: GeminiMessage): string | null;
  keyOf(id: string): SessionKey | null;
  prices: PriceBook | null;
}

/** One chat as its files say (agents.md §5, design §4). */
export function describe(parts: GeminiParts): DescribedRequests {
  const { candidate, prices, project } = parts;
  const { id, root, folded, place } = candidate;
  const file = folded.state;
  const active = messagesOf(file, file.active);
  const rewound = messagesOf(file, file.seen).filter((one) => one.rewound);
  const requests = requestsOf(parts);
  const prompts = active.filter((one) => one.prompt);
  // A picture alone names nothing.
  const named = [...prompts, ...rewound.filter((one) => one.prompt)].find((one) => titleLine(one.text) !== "");
  const firstPrompt = lineOrNull(named?.text);
  const summary = titleLine(file.summary ?? "");
  const child = place.kind === "child" || file.kind === "subagent";
  const tail = tailOf(file);
  const updatedAt = file.updatedAt ?? folded.mtimeMs;
  const counts = countOf(active);
  const cwd = project?.path ?? null;
  const snapshot: Snapshot = {
    ...blankSnapshot({
      key: sessionKey(SOURCE, root.index, id),
      source: SOURCE,
      id,
      root: root.path,
      path: folded.path,
    }),
    title: summary || titleLine(named?.text ?? "") || id,
    name: summary || null,
    agent: SOURCE,
    models: modelsOf(file),
    cwd,
    project: cwd,
    createdAt: isoTime(file.startedAt),
    updatedAt: isoTime(updatedAt),
    messages: counts.human + counts.assistant,
    ...pricedUsage(requests, prices),
    context: contextOf(active, prices),
    parent: parentOf(parts),
    resume: child || cwd === null ? null : { argv: ["gemini", "--resume", id], cwd },
    damage: lineDamage(file),
    hidden: child,
    extra: {
      titleFrom: summary === "" ? (firstPrompt === null ? "id" : "first prompt") : "summary",
      firstPrompt,
      lastPrompt: lineOrNull(prompts.at(-1)?.text),
      counts,
      abandoned: { human: rewound.filter((one) => one.prompt).length, assistant: countOf(rewound).assistant },
      forkOf: parts.origin,
      kind: child ? "subagent" : "main",
      cwdFrom: project?.from ?? null,
      edits: editsOf(file, cwd),
    },
  };
  const seat = {
    id,
    cwd,
    updatedAt,
    createdAt: file.startedAt,
    parent: place.kind === "child" ? place.parent : child ? "" : null,
    open: tail.state === "open",
    store: null,
  };
  return { snapshot, tail, seat, archived: false, requests };
}

function countOf(messages: readonly GeminiMessage[]): { human: number; assistant: number; toolCalls: number } {
  return {
    human: messages.filter((one) => one.prompt).length,
    assistant: messages.filter((one) => one.type === "gemini").length,
    toolCalls: messages.reduce((sum, one) => sum + one.calls.length, 0),
  };
}

/** Rewound calls changed files too. */
function editsOf(file: GeminiFile, cwd: string | null): string[] {
  const edits: Edit[] = [];
  for (const { calls, time } of messagesOf(file, file.seen)) {
    for (const call of calls) if (call.edits.length > 0) noteEdits(edits, absolutes(call.edits, cwd), time);
  }
  return lastEdited(edits, file.updatedAt);
}

function modelsOf(file: GeminiFile): string[] {
  const models = messagesOf(file, file.seen).map((one) => one.model);
  return [...new Set(models.filter((model) => model !== null).map(cleanLine))];
}

/** One request a reply, rewound ones too: they were billed. */
function requestsOf({ candidate, twins, ownerOf }: GeminiParts): ModelRequest[] {
  const { id } = candidate;
  const found = new Map<string, GeminiMessage>();
  for (const { folded } of [candidate, ...twins]) {
    for (const message of messagesOf(folded.state, folded.state.seen)) {
      if (message.tokens !== null && !found.has(message.id)) found.set(message.id, message);
    }
  }
  return [...found.values()].flatMap((message) => {
    if (message.tokens === null) return [];
    const owner = ownerOf(message) ?? id;
    const { input, output, cacheRead, reasoning } = message.tokens;
    return {
      key: `gemini:${owner}:${message.id}`,
      time: isoTime(message.time || null),
      provider: "google",
      model: message.model,
      ...{ input, output, cacheRead, cacheWrite: 0, cacheWrite1h: 0, reasoning },
      cost: null,
      by: null,
      ...(owner === id ? {} : { copied: true }),
    };
  });
}

function contextOf(active: readonly GeminiMessage[], prices: PriceBook | null): Snapshot["context"] {
  const last = active.findLast((one) => one.tokens !== null);
  if (last === undefined || last.tokens === null) return null;
  return { used: last.tokens.total, limit: contextLimit(prices, "google", last.model, isoTime(last.time || null)) };
}

function parentOf({ candidate, origin, keyOf }: GeminiParts): Snapshot["parent"] {
  const { place } = candidate;
  const of = place.kind === "child" ? place.parent : origin;
  const key = of === null ? null : keyOf(of);
  return key === null ? null : { key, relation: place.kind === "child" ? "subagent" : "fork" };
}
