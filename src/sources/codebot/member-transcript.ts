import { join } from "node:path";
import type { Entry } from "../../session/entry.ts";
import type { Page, PageRequest } from "../source.ts";
import { messageFacts, type TokenFacts } from "./facts.ts";
import { isoOf } from "./go-time.ts";
import { isMemberName } from "./ids.ts";
import { type Message, partsOf } from "./message.ts";
import { messageEntries } from "./message-entries.ts";
import { clipped, pageOf, startsOf, windowOf } from "./paging.ts";
import { repairSequence, syntheticResult } from "./repair.ts";
import { type MemberTranscript, readTranscriptFile } from "./transcript-store.ts";

/** What a member's transcript says of the member: no status is recorded, only this (codebot.md §11). */
export interface MemberFacts {
  messages: number;
  /** After the repair. */
  restored: number;
  tornTail: boolean;
  badLines: number[];
  last: { role: string; time: string | null; said: string } | null;
  openCalls: number;
  usage: { line: number; time: string | null; tokens: TokenFacts }[];
}

/** Reads a member's transcript; null when there is none. Throws `CannotOpen` for what is no regular file. */
export function memberTranscript(directory: string, name: string): MemberTranscript | null {
  if (!isMemberName(name)) return null;
  return readTranscriptFile(join(directory, `${name}.jsonl`));
}

export function memberFacts(transcript: MemberTranscript): MemberFacts {
  const all = transcript.messages.map(({ message, line }) => ({ facts: messageFacts(message), message, line }));
  const repaired = repairSequence(all, ({ facts }) => facts);
  const last = all.at(-1);
  return {
    messages: all.length,
    restored: repaired.length,
    tornTail: transcript.tail?.valid === false,
    badLines: transcript.badLines,
    last:
      last === undefined ? null : { role: last.facts.role, time: isoOf(last.message.timestamp), said: last.facts.said },
    openCalls: repaired.filter(({ call }) => call !== null).length,
    usage: all.flatMap(({ facts, message, line }) =>
      facts.usage === null ? [] : [{ line, time: isoOf(message.timestamp), tokens: facts.usage }],
    ),
  };
}

/** One page of a member's conversation. Refs are line numbers; nothing of it can be forked. */
export function memberPage(transcript: MemberTranscript, request: PageRequest): Page {
  const places = repairSequence(transcript.messages, ({ message }) => messageFacts(message));
  const made = places.map(({ item, call }) => ({
    message: call === null ? item.message : syntheticResult(call, item.message),
    ref: call === null ? String(item.line) : `${item.line}:synthetic:${call}`,
    line: item.line,
  }));
  const starts = startsOf(made.map(({ message }) => partsOf(message)));
  const total = starts.at(-1) ?? 0;
  const [from, to] = windowOf(request, total, (ref) => starts[made.findIndex((one) => one.ref === ref)] ?? total);
  const entries: Entry[] = [];
  for (const [at, { message, ref, line }] of made.entries()) {
    const start = starts[at] ?? 0;
    if (start >= to || (starts[at + 1] ?? 0) <= from) continue;
    const shown = memberEntries(message, ref, line).slice(Math.max(0, from - start), to - start);
    entries.push(...shown.map((entry) => clipped(entry, request.textLimit)));
  }
  return pageOf(entries, from, to, total);
}

function memberEntries(message: Message, ref: string, n: number): Entry[] {
  const flags = { inContext: true, forkable: false, branch: true, withUsage: true };
  return messageEntries(message, { ref, n, time: null, ...flags });
}
