import { describe, expect, test } from "vitest";
import { alreadySo, type Change, markOf, noticeKind, notices, type Pending } from "../../src/session/notice.ts";
import type { Snapshot } from "../../src/session/snapshot.ts";
import { sessionOf } from "../support/sessions.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();

const session = (status: Snapshot["status"], over: Partial<Snapshot> = {}): Snapshot =>
  sessionOf("a", { status, messages: 4, updatedAt: ago(5), ...over });

const turn = (human: number, lastPrompt: string) => ({ extra: { counts: { human }, lastPrompt } });

interface Case extends Partial<Change> {
  after: Snapshot;
}

const kindOf = ({ before = null, after, from = before?.status ?? null, told = {} }: Case) =>
  noticeKind({ before, after, from, told, now: NOW });

describe("is worth a notice", () => {
  test.each<[string, Case, string]>([
    ["a question while it worked", { before: session("working"), after: session("needs-input") }, "needs-input"],
    ["a question of an idle one", { before: session("idle"), after: session("needs-input") }, "needs-input"],
    ["a failure", { before: session("working"), after: session("failed") }, "failed"],
    ["a result", { before: session("working"), after: session("done") }, "done"],
    ["a result of a tool that knows no unseen ones", { before: session("working"), after: session("idle") }, "done"],
    ["an answered question that ends in a result", { before: session("needs-input"), after: session("done") }, "done"],
    [
      "a whole turn between two looks",
      { before: session("idle"), after: session("done", { messages: 6, updatedAt: ago(1) }) },
      "done",
    ],
    [
      "the next question, asked between two looks",
      {
        before: session("needs-input", { activity: "run the tests?" }),
        after: session("needs-input", { activity: "push?", updatedAt: ago(1) }),
        told: alreadySo(session("needs-input", { activity: "run the tests?" })),
      },
      "needs-input",
    ],
    [
      "the same question again after more was written",
      {
        before: session("working"),
        after: session("needs-input", { updatedAt: ago(1) }),
        told: alreadySo(session("needs-input")),
      },
      "needs-input",
    ],
    ["a new session that asks at once", { after: session("needs-input") }, "needs-input"],
    ["a new session that is done at once", { after: session("done") }, "done"],
    [
      "the next turn's result",
      {
        before: session("working"),
        after: session("done", turn(3, "and the docs")),
        told: alreadySo(session("done", turn(2, "fix it"))),
      },
      "done",
    ],
    [
      "the result of another prompt after a rewind",
      {
        before: session("working"),
        after: session("done", turn(2, "fix it differently")),
        told: alreadySo(session("done", turn(2, "fix it"))),
      },
      "done",
    ],
    [
      "the next result of a tracker that counts nothing",
      {
        before: session("working", { messages: 0 }),
        after: session("done", { messages: 0, updatedAt: ago(1) }),
        told: alreadySo(session("done", { messages: 0, updatedAt: ago(100) })),
      },
      "done",
    ],
    [
      "a failure after a look that failed",
      { before: session("unknown"), from: "working", after: session("failed") },
      "failed",
    ],
  ])("%s", (_, change, kind) => {
    expect(kindOf(change)).toBe(kind);
  });
});

describe("is worth none", () => {
  test.each<[string, Case]>([
    ["work that begins", { before: session("idle"), after: session("working") }],
    ["a result that was seen", { before: session("done"), after: session("idle") }],
    ["an interruption by the person", { before: session("working"), after: session("interrupted") }],
    ["an answered question", { before: session("needs-input"), after: session("idle") }],
    ["a process that is gone", { before: session("working"), after: session("stopped") }],
    ["a question that stays", { before: session("needs-input"), after: session("needs-input", { messages: 5 }) }],
    [
      "a question whose words are completed without anything written",
      { before: session("needs-input"), after: session("needs-input", { activity: "run the tests?" }) },
    ],
    [
      "a question seen again after a look that failed",
      { before: session("unknown"), from: "needs-input", after: session("needs-input") },
    ],
    [
      "the flicker of a turn that was told",
      {
        before: session("working"),
        after: session("done", { ...turn(2, "fix it"), messages: 9, updatedAt: ago(0) }),
        told: alreadySo(session("done", turn(2, "fix it"))),
      },
    ],
    [
      "the flicker of a question",
      { before: session("working"), after: session("needs-input"), told: alreadySo(session("needs-input")) },
    ],
    ["a seen result that is marked unseen", { before: session("idle"), after: session("done") }],
    ["an old question in a directory that was mounted", { after: session("needs-input", { updatedAt: ago(3600) }) }],
    ["a result without any time, out of nowhere", { after: session("done", { updatedAt: null }) }],
    [
      "what was never known before and is old",
      { before: session("unknown"), from: null, after: session("failed", { updatedAt: ago(300) }) },
    ],
    ["a new session that only works", { after: session("working") }],
  ])("%s", (_, change) => {
    expect(kindOf(change)).toBeNull();
  });
});

test("what is met as it is counts as told: a result seen long ago included", () => {
  expect(alreadySo(session("idle"))).toEqual({ done: markOf(session("idle")) });
  expect(alreadySo(session("needs-input"))).toEqual({ "needs-input": markOf(session("needs-input")) });
  expect(alreadySo(session("working"))).toEqual({});
});

describe("the words of a notice", () => {
  const pending = (id: string, kind: Pending["kind"], over: Partial<Snapshot> = {}, name: string | null = null) => ({
    kind,
    name,
    snapshot: sessionOf(id, { title: `session ${id}`, status: kind, ...over }),
  });

  test("say who it is and what is asked, by the person's own name where there is one", () => {
    const asks = { activity: "Bash git push?" };
    expect(notices([pending("a", "needs-input", asks, "release")])).toEqual([
      { key: "statefile:a", kind: "needs-input", title: "Needs you: release", text: "Bash git push?" },
    ]);
    expect(notices([pending("b", "done")])).toEqual([
      { key: "statefile:b", kind: "done", title: "Finished: session b", text: "Its result was not looked at yet." },
    ]);
  });

  test("are two notices for two, questions first", () => {
    const found = notices([pending("a", "done"), pending("b", "needs-input")]);
    expect(found.map((one) => one.title)).toEqual(["Needs you: session b", "Finished: session a"]);
  });

  test("are one summary for three or more, of the most urgent kind", () => {
    const several = [pending("a", "done"), pending("b", "failed"), pending("c", "done"), pending("d", "needs-input")];
    expect(notices(several)).toEqual([
      {
        key: null,
        kind: "needs-input",
        title: "Sessions: 1 need you, 1 failed, 2 finished",
        text: "session d · session b · session a · session c",
      },
    ]);
    expect(notices([])).toEqual([]);
  });

  test("carry no control bytes and are cut", () => {
    const hostile = { title: "\u001b]0;owned\u0007\u202eevil\n2", activity: `${"x".repeat(500)}\u001b[31m` };
    for (const { title, text } of [
      ...notices([pending("a", "failed", hostile)]),
      ...notices(["a", "b", "c"].map((id) => pending(id, "failed", { title: "y".repeat(900) }))),
    ]) {
      expect(`${title}${text}`).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/u);
      expect(title.length).toBeLessThanOrEqual(100);
      expect(text.length).toBeLessThanOrEqual(200);
    }
  });
});
