import { describe, expect, test } from "vitest";
import { attention, nextWanting } from "../../src/session/attention.ts";
import { countStatuses, countsLine, countsTitle, sameCounts } from "../../src/session/counts.ts";
import { expiresIn } from "../../src/session/expiry.ts";
import type { Snapshot } from "../../src/session/snapshot.ts";
import { isSnoozed, snoozeFact } from "../../src/session/snooze.ts";
import { STATUS_NAMES } from "../../src/session/status.ts";
import { sessionOf } from "../support/sessions.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const at = (clock: string): string => `2026-11-20T${clock}:00.000Z`;
const ids = (sessions: readonly Snapshot[]): string[] => sessions.map((one) => one.id);
const awake = { snoozed: () => null, now: NOW };

describe("the inbox", () => {
  test("has questions oldest first, failures oldest first, then unseen results newest first", () => {
    const sessions = [
      sessionOf("done-old", { status: "done", updatedAt: at("08:00") }),
      sessionOf("failed-new", { status: "failed", updatedAt: at("11:30") }),
      sessionOf("asks-new", { status: "needs-input", updatedAt: at("11:00") }),
      sessionOf("idle", { status: "idle", updatedAt: at("07:00") }),
      sessionOf("done-new", { status: "done", updatedAt: at("11:59") }),
      sessionOf("asks-old", { status: "needs-input", updatedAt: at("09:00") }),
      sessionOf("failed-old", { status: "failed", updatedAt: at("10:30") }),
      sessionOf("working", { status: "working", updatedAt: at("12:00") }),
    ];
    const order = ["asks-old", "asks-new", "failed-old", "failed-new", "done-new", "done-old"];
    expect(ids(attention(sessions, awake).inbox)).toEqual(order);
    expect(ids(attention(sessions.reverse(), awake).inbox)).toEqual(order);
  });

  test("has sessions without a time last in their class, and equal ones by key", () => {
    const sessions = [
      sessionOf("c", { status: "done" }),
      sessionOf("b", { status: "needs-input" }),
      sessionOf("a", { status: "needs-input" }),
      sessionOf("d", { status: "needs-input", updatedAt: at("11:00") }),
      sessionOf("e", { status: "done", updatedAt: at("11:00") }),
    ];
    expect(ids(attention(sessions, awake).inbox)).toEqual(["d", "a", "b", "e", "c"]);
  });

  test("holds exactly the three statuses that want the person", () => {
    const sessions = STATUS_NAMES.map((status) => sessionOf(status, { status }));
    expect(ids(attention(sessions, awake).inbox)).toEqual(["needs-input", "failed", "done"]);
  });

  test("leaves sub-agents and internal sessions to their parents", () => {
    const { inbox, counts } = attention([sessionOf("a", { status: "needs-input", hidden: true })], awake);
    expect(inbox).toEqual([]);
    expect(counts).toEqual({});
  });

  test("is gone round by one key; a session that left it leads to the first", () => {
    const inbox = ["a", "b", "c"].map((id) => sessionOf(id, { status: "failed" }));
    expect(nextWanting(inbox, null)?.id).toBe("a");
    expect(nextWanting(inbox, "statefile:a")?.id).toBe("b");
    expect(nextWanting(inbox, "statefile:c")?.id).toBe("a");
    expect(nextWanting(inbox, "statefile:gone")?.id).toBe("a");
    expect(nextWanting([], "statefile:a")).toBeNull();
  });
});

describe("a snoozed session", () => {
  const asks = sessionOf("a", {
    status: "needs-input",
    activity: "run the tests?",
    messages: 4,
    updatedAt: at("11:00"),
  });
  const fact = snoozeFact(asks, NOW + 1000);

  test.each<[string, Snapshot, number, boolean]>([
    ["is quiet before its time", asks, NOW, true],
    ["is quiet to the last millisecond", asks, NOW + 999, true],
    ["wakes when its time is over", asks, NOW + 1000, false],
    ["wakes when its status changes", { ...asks, status: "failed" }, NOW, false],
    ["sleeps on while a look finds out nothing", { ...asks, status: "unknown" }, NOW, true],
    ["wakes when it asks something else", { ...asks, activity: "delete the branch?" }, NOW, false],
    ["wakes when it asks the same after another answer", { ...asks, messages: 6 }, NOW, false],
    ["sleeps on when only its file was touched", { ...asks, updatedAt: at("11:59") }, NOW, true],
  ])("%s", (_, snapshot, now, quiet) => {
    expect(isSnoozed(snapshot, fact, now)).toBe(quiet);
  });

  test("begins its fact with the time, and a time alone is a fact that only time ends", () => {
    const time = new Date(NOW + 1000).toISOString();
    expect(fact.startsWith(`${time} `)).toBe(true);
    expect(isSnoozed({ ...asks, status: "failed" }, time, NOW)).toBe(true);
    expect(isSnoozed(asks, time, NOW + 1000)).toBe(false);
  });

  test.each([null, "", "tomorrow", "needs-input 1 2"])("needs a time: %j snoozes nothing", (broken) => {
    expect(isSnoozed(asks, broken, NOW)).toBe(false);
  });

  test("is neither in the inbox nor counted, and says when it wakes", () => {
    const other = sessionOf("b", { status: "done" });
    const facts = { snoozed: (key: string) => (key === asks.key ? fact : null), now: NOW };
    const found = attention([asks, other], facts);
    expect(ids(found.inbox)).toEqual(["b"]);
    expect(ids(found.snoozed)).toEqual(["a"]);
    expect(found.counts).toEqual({ done: 1 });
    expect(found.wakesAt).toBe(NOW + 1000);
    expect(attention([asks, other], { ...facts, now: NOW + 1000 })).toMatchObject({ snoozed: [], wakesAt: null });
  });

  test("that works again is counted as working", () => {
    const working = { ...asks, status: "working" as const };
    expect(attention([working], { snoozed: () => snoozeFact(working, NOW + 1000), now: NOW }).counts).toEqual({
      working: 1,
    });
  });
});

describe("counts", () => {
  const counts = countStatuses(
    (["needs-input", "needs-input", "failed", "working", "done", "idle", "stopped"] as const).map((status) => ({
      status,
    })),
  );

  test("make one short line of what wants the person or goes on", () => {
    expect(countsLine(counts)).toBe("▲2 ✗1 ●1 ✓1");
    expect(countsLine(counts, { ascii: true })).toBe("!2 x1 *1 +1");
    expect(countsLine({ idle: 3 })).toBe("");
  });

  test("stand first in the terminal's title", () => {
    expect(countsTitle(counts)).toBe("▲2 ✗1 ●1 ✓1 forktail");
    expect(countsTitle({})).toBe("forktail");
  });

  test("are the same whether a status is missing or zero", () => {
    expect(sameCounts({ done: 0, idle: 1 }, { idle: 1 })).toBe(true);
    expect(sameCounts({ idle: 1 }, { idle: 2 })).toBe(false);
    expect(sameCounts({}, { failed: 1 })).toBe(false);
  });
});

test.each<[string, unknown, number | null]>([
  ["nothing is said", undefined, null],
  ["no time is said", "soon", null],
  ["it is not text", 5, null],
  ["it is in a day", "2026-11-21T12:00:00.000Z", 86_400_000],
  ["it is past", "2026-11-01T00:00:00.000Z", 0],
])("the time until a tool deletes a session, when %s", (_, expiresAt, expected) => {
  expect(expiresIn(sessionOf("a", { extra: { expiresAt } }), NOW)).toBe(expected);
});
