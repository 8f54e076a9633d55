import { describe, expect, test } from "vitest";
import { digest, digestText } from "../../src/session/digest.ts";
import type { Snapshot, Usage } from "../../src/session/snapshot.ts";
import { sessionOf } from "../support/sessions.ts";

const usage = (input: number, cost: number | null): Usage => ({
  requests: 1,
  input,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  reasoning: 0,
  cost,
  costBasis: cost === null ? null : "estimated",
});

const map = (...sessions: Snapshot[]) => new Map(sessions.map((one) => [one.key, one]));
const amounts = { tokens: (count: number) => `${count}`, cost: (dollars: number) => `$${dollars.toFixed(2)}` };

function said(then: Partial<Snapshot> | null, now: Partial<Snapshot> | null, ascii = false): string[] {
  const before = then === null ? map() : map(sessionOf("a", then));
  const after = now === null ? map() : map(sessionOf("a", now));
  return digest(before, after).map((line) => digestText(line, amounts, { ascii }));
}

describe("what happened to a session", () => {
  test.each<[string, Partial<Snapshot> | null, Partial<Snapshot> | null, string[]]>([
    [
      "all of it at once",
      { status: "working", messages: 3, own: usage(100, 0.5) },
      { status: "needs-input", messages: 15, own: usage(1100, 0.92), activity: "push to main?" },
      ["working → needs-input · +12 messages · 1000 tokens · $0.42 · push to main?"],
    ],
    ["one message", { status: "working", messages: 3 }, { status: "working", messages: 4 }, ["working · +1 message"]],
    [
      "a rewind",
      { messages: 9, own: usage(9, 1) },
      { messages: 4, own: usage(4, 0.4) },
      ["idle · rewound by 5 messages"],
    ],
    [
      "new",
      null,
      { status: "working", messages: 2, own: usage(10, 0.25) },
      ["new, working · +2 messages · 10 tokens · $0.25"],
    ],
    ["gone", { status: "done" }, null, ["gone"]],
    [
      "a failure with its words",
      { status: "working" },
      { status: "failed", activity: "rate limited" },
      ["working → failed · rate limited"],
    ],
    [
      "work with its words left out",
      { status: "idle" },
      { status: "working", activity: "Bash ls" },
      ["idle → working"],
    ],
    ["tokens without a price", { own: usage(10, null) }, { own: usage(20, null) }, ["idle · 10 tokens"]],
    ["a price that was unknown before", { own: usage(10, null) }, { own: usage(20, 0.5) }, ["idle · 10 tokens"]],
    [
      "numbers that were not read before",
      { own: null, messages: 1 },
      { own: usage(20, 0.5), messages: 2 },
      ["idle · +1 message"],
    ],
    [
      "tasks completed",
      { tasks: { total: 4, pending: 3, inProgress: 0, completed: 1, blocked: 0 } },
      { tasks: { total: 4, pending: 1, inProgress: 0, completed: 3, blocked: 0 } },
      ["idle · 2 tasks completed"],
    ],
    [
      "nothing: a touched file",
      { updatedAt: "2026-11-20T12:00:00.000Z" },
      { updatedAt: "2026-11-20T13:00:00.000Z" },
      [],
    ],
    ["nothing: a failed look", { status: "working" }, { status: "unknown" }, []],
    ["nothing: a sub-agent", { hidden: true }, { hidden: true, messages: 4 }, []],
    ["nothing: a sub-agent that is gone", { hidden: true }, null, []],
  ])("%s", (_, then, now, expected) => {
    expect(said(then, now)).toEqual(expected);
  });

  test("can be said in ASCII", () => {
    expect(said({ status: "working" }, { status: "done", messages: 2 }, true)).toEqual([
      "working -> done - +2 messages",
    ]);
  });
});

test("who wants the person comes first, newly so before long so; then what ended, went on, is gone", () => {
  const before = map(
    sessionOf("asks-still", { status: "needs-input" }),
    sessionOf("asks-now", { status: "working" }),
    sessionOf("failed", { status: "working" }),
    sessionOf("works-little", { status: "working" }),
    sessionOf("works-much", { status: "working" }),
    sessionOf("done", { status: "working" }),
    sessionOf("gone"),
    sessionOf("same"),
  );
  const after = new Map([
    ...[...before].filter(([, one]) => one.id === "same"),
    ...map(
      sessionOf("works-little", { status: "working", messages: 1 }),
      sessionOf("works-much", { status: "working", messages: 50 }),
      sessionOf("done", { status: "done" }),
      sessionOf("failed", { status: "failed" }),
      sessionOf("asks-still", { status: "needs-input", messages: 80 }),
      sessionOf("asks-now", { status: "needs-input" }),
      sessionOf("new", { status: "idle" }),
    ),
  ]);
  const order = ["asks-now", "asks-still", "failed", "works-much", "works-little", "done", "new", "gone"];
  expect(digest(before, after).map((line) => line.key)).toEqual(order.map((id) => `statefile:${id}`));
  expect(digest(after, after)).toEqual([]);
});
