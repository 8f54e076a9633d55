import { describe, expect, test } from "vitest";
import { type Case, judge } from "../../../src/sources/by-process/judge.ts";
import type { Live } from "../../../src/sources/by-process/seats.ts";
import { NEW_TAIL, type Tail } from "../../../src/sources/by-process/tail.ts";

const process = { pid: 7, ppid: null, startTicks: null, tty: null, comm: "pi", argv: ["pi"], cwd: "/w", locksHeld: [] };
const live = (guess: boolean): Live => ({ process, evidence: "process 7 runs it", guess, openTwice: [] });
const tail = (state: Tail["state"], more: Partial<Tail> = {}): Tail => ({
  ...NEW_TAIL,
  state,
  evidence: "so it ends",
  ...more,
});
const one = (more: Partial<Case>): Case => ({
  tail: tail("over"),
  live: null,
  processesKnown: true,
  archived: false,
  seen: false,
  ...more,
});
const asks = { id: "c", name: "question", summary: "question", question: "Green?" };

describe("a status from the process table and the conversation's end", () => {
  test.each<[string, Partial<Case>, string, string, string]>([
    ["finished, nobody on it", {}, "idle", "idle", "recorded"],
    ["finished and archived", { archived: true }, "archived", "idle", "recorded"],
    ["finished, its process waits", { live: live(false) }, "done", "waiting-user", "recorded"],
    ["finished and looked at", { live: live(true), seen: true }, "idle", "waiting-user", "guess"],
    ["nothing said yet", { live: live(false), tail: NEW_TAIL }, "idle", "waiting-user", "recorded"],
    ["open, its process lives", { live: live(false), tail: tail("open") }, "working", "working", "guess"],
    ["open, nobody on it", { tail: tail("open") }, "interrupted", "interrupted", "guess"],
    ["open, nothing can be seen", { tail: tail("open"), processesKnown: false }, "unknown", "unknown", "guess"],
    ["finished, nothing can be seen", { processesKnown: false }, "idle", "idle", "recorded"],
    [
      "a question",
      { live: live(false), tail: tail("open", { calls: [asks] }) },
      "needs-input",
      "waiting-user",
      "recorded",
    ],
    ["a question nobody can answer", { tail: tail("open", { calls: [asks] }) }, "interrupted", "interrupted", "guess"],
    ["an error", { tail: tail("error", { text: "no credit" }) }, "failed", "error", "recorded"],
    ["an error, its process lives", { live: live(true), tail: tail("error") }, "failed", "error", "guess"],
    ["stopped", { tail: tail("interrupted") }, "interrupted", "interrupted", "recorded"],
  ])("%s", (_, more, status, native, certainty) => {
    const verdict = judge(one(more));
    expect(verdict).toMatchObject({ status, native, certainty });
    expect(verdict.why.length).toBeGreaterThanOrEqual(2);
  });

  test("an error's text cannot reach the terminal as it is", () => {
    const text = "no \u001b[31mcredit\u202e\nnow";
    expect(judge(one({ tail: tail("error", { text }) })).detail).toBe("no ·[31mcredit now");
  });
});
