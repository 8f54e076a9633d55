import { lastEdited } from "../../session/edited-files.ts";
import { type SessionKey, sessionKey } from "../../session/key.ts";
import { blankSnapshot, type Snapshot } from "../../session/snapshot.ts";
import { cleanLine, lineOrNull, titleLine } from "../../session/untrusted.ts";
import { type PriceBook, pricedUsage } from "../../usage/prices.ts";
import type { ModelRequest } from "../../usage/request.ts";
import { contextLimit } from "../by-process/context-limit.ts";
import type { DescribedRequests } from "../by-process/described-sessions.ts";
import { lineDamage } from "../jsonl/folded-lines.ts";
import { isoTime } from "../jsonl/record.ts";
import type { PiFile } from "./file.ts";
import { nameAt } from "./names.ts";
import { entryKey } from "./owners.ts";
import type { Candidate } from "./sessions.ts";
import { tailOf } from "./tail.ts";
import { activePath, branchCounts, contextUsed } from "./tree.ts";

const SOURCE = "pi";

export interface PiFacts {
  candidate: Candidate;
  /** The session it was copied from. */
  origin: { id: string; known: boolean } | null;
  /** Does it lie below another session's folder, and whose? */
  child: boolean;
  starter: string | null;
  ownerOf(entry: string): string | null;
  keyOf(id: string): SessionKey;
  prices: PriceBook | null;
}

/** One session of pi as its file says (agents.md §3, design §4). */
export function describe(facts: PiFacts): DescribedRequests {
  const { candidate, origin, starter, prices } = facts;
  const { header, root, folded } = candidate;
  const file = folded.state;
  const { active, abandoned } = branchCounts(file);
  const requests = file.requests.map((request) => modelRequest(facts, request));
  const on = new Set(activePath(file));
  const prompts = file.prompts.filter((prompt) => on.has(prompt.row));
  // A picture alone names nothing.
  const firstText = file.prompts.find((prompt) => titleLine(prompt.text) !== "")?.text ?? "";
  const firstPrompt = lineOrNull(firstText);
  const name = file.name === null ? "" : titleLine(file.name);
  const tail = tailOf(file);
  const updatedAt = file.updatedAt ?? header.startedAt ?? folded.mtimeMs;
  const key = sessionKey(SOURCE, root.index, header.id);
  const snapshot: Snapshot = {
    ...blankSnapshot({ key, source: SOURCE, id: header.id, root: root.path, path: folded.path }),
    title: name || titleLine(firstText) || header.id,
    name: name || null,
    agent: SOURCE,
    models: file.used.map((model) => cleanLine(model)),
    cwd: header.cwd,
    project: header.cwd,
    createdAt: isoTime(header.startedAt),
    updatedAt: isoTime(updatedAt),
    messages: active.human + active.assistant,
    ...pricedUsage(requests, prices),
    context: contextOf(file, prices, isoTime(updatedAt)),
    parent: parentOf(facts),
    resume: { argv: ["pi", "--session", folded.path], cwd: header.cwd },
    damage: lineDamage(file),
    hidden: facts.child,
    extra: {
      titleFrom: name === "" ? (firstPrompt === null ? "id" : "first prompt") : "session_info",
      firstPrompt,
      lastPrompt: lineOrNull(prompts.at(-1)?.text),
      counts: { human: active.human, assistant: active.assistant, toolCalls: active.toolCalls },
      abandoned: { human: abandoned.human, assistant: abandoned.assistant },
      compactions: active.compactions,
      branchSummaries: active.summaries,
      labels: { ...file.labels },
      forkOf: origin?.known === true ? origin.id : null,
      forkOfMissing: origin !== null && !origin.known,
      kind: facts.child ? "subagent" : "main",
      version: header.version,
      edits: lastEdited(file.edited, file.updatedAt),
    },
  };
  const seat = {
    id: header.id,
    cwd: header.cwd,
    updatedAt,
    createdAt: header.startedAt,
    parent: facts.child ? (starter ?? "") : null,
    open: tail.state === "open",
    store: null,
    path: folded.path,
  };
  return { snapshot, tail, seat, archived: false, requests };
}

function modelRequest({ candidate, ownerOf }: PiFacts, request: PiFile["requests"][number]): ModelRequest {
  const { header, folded } = candidate;
  const file = folded.state;
  const key = entryKey(file, request.row);
  const owner = ownerOf(key) ?? header.id;
  const { input, output, cacheRead, cacheWrite, cacheWrite1h, reasoning, cost } = request;
  return {
    key: `pi:${owner}:${key}`,
    time: isoTime(file.times[request.row] || null),
    provider: nameAt(file, request.provider),
    model: nameAt(file, request.model),
    ...{ input, output, cacheRead, cacheWrite, cacheWrite1h, reasoning, cost },
    by: null,
    ...(owner === header.id ? {} : { copied: true }),
  };
}

function contextOf(file: PiFile, prices: PriceBook | null, time: string | null): Snapshot["context"] {
  const found = contextUsed(file);
  if (found === null) return null;
  return {
    used: found.used,
    limit: contextLimit(prices, nameAt(file, found.provider), nameAt(file, found.model), time),
  };
}

function parentOf({ origin, child, starter, keyOf }: PiFacts): Snapshot["parent"] {
  if (child) return starter === null ? null : { key: keyOf(starter), relation: "subagent" };
  return origin?.known === true ? { key: keyOf(origin.id), relation: "fork" } : null;
}
