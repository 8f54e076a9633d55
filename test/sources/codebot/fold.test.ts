import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { advanceFile, bytesOf, type Folded, runNow } from "../../../src/files/fold.ts";
import { leavesOf } from "../../../src/sources/codebot/chain-state.ts";
import {
  contextLength,
  countMessage,
  emptyContext,
  syntheticCount,
} from "../../../src/sources/codebot/context-count.ts";
import type { MessageFacts } from "../../../src/sources/codebot/facts.ts";
import { codebotFold, damageOf, type SessionState, settled } from "../../../src/sources/codebot/fold.ts";
import { repairSequence } from "../../../src/sources/codebot/repair.ts";
import { nativeOf } from "../../../src/sources/codebot/status.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { EXPECTED, pathOf } from "./expected.ts";
import { assistant, calls, fold, header, line, llmCall, NESTED, nested, result, text, user } from "./lines.ts";

/** Reads growing prefixes, each read beginning where the last one ended. */
function grow(bytes: Buffer, cuts: readonly number[]): SessionState {
  const state = codebotFold.initial();
  let offset = 0;
  for (const size of [...cuts.filter((cut) => cut <= bytes.length).sort((a, b) => a - b), bytes.length]) {
    offset = runNow(codebotFold.advance(state, bytesOf(bytes.subarray(0, size)), offset));
  }
  return settled(state);
}

test("growth in random chunks ends in the same state as one read of the whole", () => {
  for (const session of EXPECTED.sessions) {
    if (session.id === "b16b00c5") continue;
    const bytes = readFileSync(pathOf(session));
    const whole = fold(bytes);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
        expect(grow(bytes, cuts)).toEqual(whole);
      }),
      { numRuns: 30 },
    );
  }
});

test("a tree of any shape, with duplicates, unknown parents and bad lines, grows to the same state", () => {
  const id = fc.constantFrom("h0", "a", "b", "c", "d", "e", "__proto__", "12345678");
  const entry = fc.oneof(
    fc.tuple(id, id).map(([one, parent]) => user(one, parent, "hi")),
    fc.tuple(id, id, id).map(([one, parent, call]) => calls(one, parent, call)),
    fc.tuple(id, id, id).map(([one, parent, call]) => result(one, parent, call)),
    fc.tuple(id, id).map(([one, parent]) => line("compaction", one, parent, { summary: "s", messages: [] })),
    fc.tuple(id, id, fc.nat(99)).map(([one, parent, n]) => llmCall(one, parent, n, 1, 2)),
    fc.constantFrom("", "not json", "{}", '{"kind":"message","id":"","timestamp":"2026-08-01T10:00:00Z"}', "[1]"),
  );
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 14 }), fc.array(fc.nat(3000), { maxLength: 6 }), (lines, cuts) => {
      const bytes = Buffer.from(text(header(), ...lines));
      const whole = fold(bytes);
      expect(grow(bytes, cuts)).toEqual(whole);
      expect(whole.leaves).toBe(leavesOf(whole.entries, whole.index).length);
    }),
    { numRuns: 1000 },
  );
});

test("the count of restored messages always equals the length of the repaired sequence", () => {
  const call = fc.constantFrom("a", "b", "c");
  const base: MessageFacts = {
    ...{ role: "user", calls: [], answers: "" },
    injected: false,
    stop: "",
    usage: null,
    parts: 1,
    said: "",
    prompt: "",
  };
  const message: fc.Arbitrary<MessageFacts> = fc.oneof(
    fc.constant(base),
    fc.array(call, { maxLength: 3 }).map((ids) => ({ ...base, role: "assistant", calls: [...new Set(ids)] })),
    call.map((answers) => ({ ...base, role: "tool", answers })),
  );
  fc.assert(
    fc.property(fc.array(message, { maxLength: 20 }), (messages) => {
      const count = emptyContext();
      for (const one of messages) countMessage(count, one);
      const repaired = repairSequence(messages, (one) => one);
      expect(contextLength(count)).toBe(repaired.length);
      expect(syntheticCount(count)).toBe(repaired.filter((one) => one.call !== null).length);
    }),
    { numRuns: 500 },
  );
});

test("a result that a user message separates from its call stays beside a synthetic one", () => {
  const state = fold(
    text(header(), calls("a", "h0", "t1"), user("b", "a", "wait"), result("c", "b", "t1"), result("d", "c", "none")),
  );
  // call, synthetic, user, late result; the result of no call is dropped.
  expect(contextLength(state.chain.context)).toBe(4);
  expect(syntheticCount(state.chain.context)).toBe(1);
});

interface Case {
  name: string;
  content: string;
  damage: { kind: string; line: number | null }[];
  messages: number;
  native: string;
}

const big = "x".repeat(1_258_291);

/** A message of version 5. */
function flat(data: Record<string, unknown>): string {
  return JSON.stringify({ kind: "message", timestamp: "2026-08-01T10:00:01Z", data });
}

const CASES: Case[] = [
  {
    name: "a torn last line is flagged and ignored",
    content: `${text(header(), user("a", "h0", "hi"), assistant("b", "a", "ho"))}{"kind":"mess`,
    damage: [{ kind: "torn_tail", line: 4 }],
    messages: 2,
    native: "interrupted",
  },
  {
    name: "an unterminated last line that is valid counts as a record",
    content: text(header(), user("a", "h0", "hi")) + assistant("b", "a", "ho"),
    damage: [],
    messages: 2,
    native: "idle",
  },
  {
    name: "a malformed whole line costs that line",
    content: text(header(), user("a", "h0", "hi"), '{"kind":', "", assistant("b", "a", "ho")),
    damage: [{ kind: "malformed_line", line: 3 }],
    messages: 2,
    native: "idle",
  },
  {
    name: "an entry without an id is flagged and passed over",
    content: text(header(), user("a", "h0", "hi"), user("", "a", "nobody"), assistant("b", "a", "ho")),
    damage: [{ kind: "empty_id", line: 3 }],
    messages: 2,
    native: "idle",
  },
  {
    name: "of a duplicate id the last one wins",
    content: text(header(), user("a", "h0", "one"), user("b", "a", "two"), assistant("b", "a", "three")),
    damage: [{ kind: "duplicate_id", line: 4 }],
    messages: 3,
    native: "idle",
  },
  {
    name: "a circle of parents falls back to file order",
    content: text(header(), user("a", "b", "hi"), assistant("b", "a", "ho")),
    damage: [{ kind: "parent_cycle", line: 3 }],
    messages: 2,
    native: "idle",
  },
  {
    name: "a missing parent falls back to file order",
    content: text(header(), user("a", "h0", "hi"), assistant("b", "gone", "ho")),
    damage: [{ kind: "missing_parent", line: 3 }],
    messages: 2,
    native: "idle",
  },
  {
    name: "an entry without a parent does not reach the header",
    content: text(header(), user("a", "", "hi"), assistant("b", "a", "ho")),
    damage: [{ kind: "no_header", line: 3 }],
    messages: 2,
    native: "idle",
  },
  {
    name: "a message that cannot be decoded is counted, flagged and not restored",
    content: text(header(), user("a", "h0", "hi"), line("message", "b", "a", { role: "user", content: "text" })),
    damage: [{ kind: "undecodable_message", line: 3 }],
    messages: 2,
    native: "interrupted",
  },
  {
    name: "a block whose image is null is a block without one",
    content: text(
      header(),
      user("a", "h0", "hi"),
      line("message", "b", "a", {
        role: "assistant",
        content: [{ type: "text", text: "ho", image: null, tool_call: null }],
        stop_reason: "stop",
      }),
    ),
    damage: [],
    messages: 2,
    native: "idle",
  },
  {
    name: "a torn last line behind a compaction that kept nothing is still unfinished",
    content: `${text(header(), user("a", "h0", "hi"), line("compaction", "b", "a", { summary: "s" }))}{"kind":"mess`,
    damage: [{ kind: "torn_tail", line: 4 }],
    messages: 1,
    native: "interrupted",
  },
  {
    name: "a last result that answers no call is not restored, so the answer before it is the last message",
    content: text(header(), user("a", "h0", "hi"), assistant("b", "a", "ho"), result("c", "b", "none")),
    damage: [],
    messages: 3,
    native: "idle",
  },
  {
    name: "a result that answers no call leaves a question unanswered",
    content: text(header(), assistant("a", "h0", "ho"), user("b", "a", "hi"), result("c", "b", "none")),
    damage: [],
    messages: 3,
    native: "interrupted",
  },
  {
    name: "a result that came too late for its call is restored, and waits to be answered",
    content: text(header(), calls("a", "h0", "t"), user("b", "a", "hi"), result("c", "b", "t")),
    damage: [],
    messages: 3,
    native: "interrupted",
  },
  {
    name: "in version 5 too a last result that answers no call is not the last message",
    content: text(
      header("aaaaaaaa", { version: 5 }),
      flat({ role: "assistant", blocks: [{ type: "text", text: "ho" }], stop: "end" }),
      flat({ role: "tool", blocks: [{ type: "tool_result", tool_use_id: "none", content: "ok" }] }),
    ),
    damage: [{ kind: "newer_format", line: null }],
    messages: 2,
    native: "idle",
  },
  {
    name: "in version 5 a call stays open behind a result that answers none",
    content: text(
      header("aaaaaaaa", { version: 5 }),
      flat({ role: "assistant", blocks: [{ type: "tool_use", id: "t", name: "bash" }], stop: "tool_use" }),
      flat({ role: "tool", blocks: [{ type: "tool_result", tool_use_id: "none", content: "ok" }] }),
    ),
    damage: [{ kind: "newer_format", line: null }],
    messages: 2,
    native: "interrupted",
  },
  {
    name: "JSON nested ever so deep in a version 5 result is read",
    content: text(
      header("aaaaaaaa", { version: 5 }),
      nested(flat({ role: "tool", blocks: [{ type: "tool_result", tool_use_id: "t", content: NESTED }] })),
      flat({ role: "assistant", blocks: [{ type: "text", text: "ho" }], stop: "end" }),
    ),
    damage: [{ kind: "newer_format", line: null }],
    messages: 2,
    native: "idle",
  },
  {
    name: "an unterminated last line that is nested ever so deep counts as a record",
    content:
      text(header(), user("a", "h0", "hi")) + nested(calls("b", "a", "t").replace('"ls"', JSON.stringify(NESTED))),
    damage: [],
    messages: 2,
    native: "interrupted",
  },
  {
    name: "a line of 1.2 MiB is read like any other",
    content: text(
      header(),
      user("a", "h0", "hi"),
      calls("b", "a", "t"),
      result("c", "b", "t", JSON.stringify(big)),
      assistant("d", "c", "ho"),
    ),
    damage: [],
    messages: 4,
    native: "idle",
  },
  {
    name: "an older version is read by the rules of version 3",
    content: text(header("aaaaaaaa", { version: 2 }), user("a", "h0", "hi"), assistant("b", "a", "ho")),
    damage: [{ kind: "older_format", line: null }],
    messages: 2,
    native: "idle",
  },
  {
    name: "of an unknown version only the header is read",
    content: text(header("aaaaaaaa", { version: 4 }), user("a", "h0", "hi")),
    damage: [{ kind: "newer_format", line: null }],
    messages: 0,
    native: "unknown",
  },
  {
    name: "an unknown kind is legal and kept in the chain",
    content: text(header(), user("a", "h0", "hi"), line("novelty", "b", "a", { x: 1 }), assistant("c", "b", "ho")),
    damage: [],
    messages: 2,
    native: "idle",
  },
  {
    name: "nil slices are empty",
    content: text(
      header(),
      line("message", "a", "h0", { role: "user", content: null }),
      line("compaction", "b", "a", { summary: "", messages: null }),
    ),
    damage: [],
    messages: 1,
    native: "idle",
  },
  {
    name: "an aborted answer is said so",
    content: text(header(), user("a", "h0", "hi"), assistant("b", "a", "x", { stop_reason: "aborted" })),
    damage: [],
    messages: 2,
    native: "aborted",
  },
  {
    name: "an answer that failed is said so",
    content: text(header(), user("a", "h0", "hi"), assistant("b", "a", "x", { stop_reason: "error" })),
    damage: [],
    messages: 2,
    native: "error",
  },
  {
    name: "an answer cut at the limit is said so",
    content: text(header(), user("a", "h0", "hi"), assistant("b", "a", "x", { stop_reason: "length" })),
    damage: [],
    messages: 2,
    native: "length",
  },
];

describe("tolerance", () => {
  test.each(CASES)("$name", ({ content, damage, messages, native }) => {
    const state = fold(content);
    expect(damageOf(state).map(({ kind, line: at }) => ({ kind, line: at }))).toEqual(damage);
    expect(state.messages).toBe(messages);
    expect(nativeOf(state).native).toBe(native);
  });

  test.each([
    ["", null],
    ["\n\n", null],
    ["not json\n", "first line is not valid JSON"],
    ['{"role":"user"}\n', "first line is not a header"],
    ["[]\n", "first line is not a header"],
    ['{"kind":"hea', "first line is not valid JSON"],
  ])("%j is no session", (content, refused) => {
    const state = fold(content);
    expect(state.header).toBeNull();
    expect(state.refused).toBe(refused);
  });

  test("a header alone and unterminated is a session", () => {
    expect(fold(header()).header?.sessionId).toBe("aaaaaaaa");
  });

  test("a legacy thinking_change never alters the effort", () => {
    const state = fold(
      text(
        header(),
        line("reasoning_effort_change", "a", "h0", { level: "low" }),
        line("thinking_change", "b", "a", { level: "max" }),
      ),
    );
    expect(state.chain.effort).toBe("low");
  });

  test("without an llm_call the usage of messages is what counts, and costs are recorded where they are", () => {
    const usage = {
      provider: "p",
      model: "m",
      input: 10,
      output: 2,
      cache_read: 4,
      cache_write: 0,
      cost: { total: 0.5 },
    };
    const paid = fold(text(header(), assistant("a", "h0", "x", { usage }), llmCall("b", "a", 10, 4, 2)));
    expect(paid.entries.find((facts) => facts.call)?.call?.cost).toBe(0.5);
    expect(paid.models).toEqual(["p/m"]);
  });
});

describe("a file that changes", () => {
  function read(path: string, before: Folded<SessionState> | null): Folded<SessionState> {
    const result = runNow(advanceFile(codebotFold, path, before));
    if (!result.ok) throw new Error(result.message);
    return result.folded;
  }

  test("a roll-back that cuts a whole line is read anew", () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const kept = text(header(), user("a", "h0", "hi"));
    writeFileSync(path, kept + text(assistant("b", "a", "ho")));
    const first = read(path, null);
    expect(first.state.messages).toBe(2);
    writeFileSync(path, kept);
    const second = read(path, first);
    expect(settled(second.state)).toEqual(fold(kept));
  });

  test("a torn line that is cut and replaced by another of the same length is never kept", () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const kept = text(header(), user("a", "h0", "hi"));
    writeFileSync(path, `${kept}{"kind":"message","id":"zz`);
    const first = read(path, null);
    const whole = text(assistant("b", "a", "ho"));
    writeFileSync(path, kept + whole);
    const second = read(path, first);
    expect(settled(second.state)).toEqual(fold(kept + whole));
  });

  test("an append costs the appended bytes, however long the file is", async () => {
    const { fileWork } = await import("../../../src/files/open.ts");
    const path = join(temporaryDirectory(), "s.jsonl");
    writeFileSync(path, text(header(), user("a", "h0", "x".repeat(2_000_000))));
    const first = read(path, null);
    const added = text(assistant("b", "a", "ho"));
    appendFileSync(path, added);
    const before = fileWork.bytesRead;
    const second = read(path, first);
    expect(second.state.messages).toBe(2);
    expect(fileWork.bytesRead - before).toBeLessThan(64 * 1024);
  });
});
