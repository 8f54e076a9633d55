import { describe, expect, test } from "vitest";
import { Memory } from "../../src/memory/memory.ts";
import type { Snapshot } from "../../src/session/snapshot.ts";
import { listRows, rowsSelector } from "../../src/store/rows.ts";
import { newStore } from "../../src/store/store.ts";
import { GROUPS, SORTS } from "../../src/store/view.ts";
import { sessionOf } from "../support/sessions.ts";
import { temporaryDirectory } from "../support/temp.ts";

const now = Date.parse("2026-09-10T12:00:00Z");
const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, reasoning: 0 };
const spent = (input: number, cost: number | null): Snapshot["own"] => ({
  ...tokens,
  input,
  requests: 1,
  cost,
  costBasis: cost === null ? null : "recorded",
});

const SESSIONS = [
  sessionOf("a", {
    title: "Rate limits in the gateway",
    updatedAt: "2026-09-10T11:00:00.000Z",
    createdAt: "2026-09-01T00:00:00.000Z",
    project: "web",
    own: spent(10, 2),
  }),
  sessionOf("b", {
    title: "apple",
    status: "failed",
    updatedAt: "2026-09-09T11:00:00.000Z",
    createdAt: "2026-09-03T00:00:00.000Z",
    project: "web",
    own: spent(30, 1),
    parent: { key: "statefile:a", relation: "fork" },
  }),
  sessionOf("c", {
    title: "日本語のダークモード",
    status: "needs-input",
    updatedAt: "2026-09-06T11:00:00.000Z",
    createdAt: "2026-09-02T00:00:00.000Z",
    agent: "codex",
    own: spent(20, null),
    parent: { key: "statefile:b", relation: "fork" },
  }),
  sessionOf("d", { title: "no numbers", updatedAt: null }),
];

function rowsOf(
  over: Partial<Parameters<typeof listRows>[0]> = {},
  sessions = SESSIONS,
  memory = new Memory("/nowhere"),
) {
  const inputs = {
    memoryRevision: 0,
    clock: now,
    filter: "",
    sort: "updated",
    group: "none",
    all: false,
    scope: null,
  } as const;
  return listRows({ ...inputs, sessions: new Map(sessions.map((one) => [one.key, one])), ...over }, memory);
}

const ids = (rows: ReturnType<typeof rowsOf>): string =>
  rows.keys.map((key) => key.slice("statefile:".length)).join("");

describe("the order of rows", () => {
  test.each([
    ["updated", "abcd"],
    ["status", "cbad"],
    ["created", "bcad"],
    ["title", "bdac"],
    ["tokens", "bcad"],
    ["cost", "abcd"],
  ] as const)("by %s: %s", (sort, order) => {
    expect(ids(rowsOf({ sort }))).toBe(order);
  });

  test("there is a case for every order and group", () => {
    expect(SORTS).toHaveLength(6);
    expect(GROUPS).toEqual(["none", "project", "agent", "status", "day", "tree"]);
  });

  test("pinned ones come first, in the chosen order among themselves", () => {
    const memory = new Memory(temporaryDirectory());
    memory.set("pinned", "statefile:d", true);
    memory.set("pinned", "statefile:c", true);
    expect(ids(rowsOf({}, SESSIONS, memory))).toBe("cdab");
  });
});

describe("groups", () => {
  const shape = (group: (typeof GROUPS)[number]): string[] =>
    rowsOf({ group }).rows.map((row) =>
      row.type === "group" ? `${row.label} ${row.count}` : `${"-".repeat(row.depth)}${row.snapshot.id}`,
    );

  test.each([
    ["project", ["web 2", "a", "b", "no project 2", "c", "d"]],
    ["agent", ["mainplane 3", "a", "b", "d", "codex 1", "c"]],
    ["status", ["needs-input 1", "c", "failed 1", "b", "idle 2", "a", "d"]],
    ["day", ["today 1", "a", "yesterday 1", "b", "this week 1", "c", "no time 1", "d"]],
    ["tree", ["a", "-b", "--c", "d"]],
  ] as const)("by %s", (group, expected) => {
    expect(shape(group)).toEqual(expected);
  });

  test("in a tree a cycle is cut, and every session stands once", () => {
    const cycle = [
      sessionOf("x", { parent: { key: "statefile:y", relation: "fork" } }),
      sessionOf("y", { parent: { key: "statefile:x", relation: "fork" } }),
      sessionOf("z", { parent: { key: "statefile:z", relation: "fork" } }),
    ];
    expect([...ids(rowsOf({ group: "tree" }, cycle))].sort()).toEqual(["x", "y", "z"]);
  });
});

describe("the filter", () => {
  test.each([
    ["rate", "a"],
    ["ratlim", "a"],
    ["ダーク", "c"],
    ["status:failed", "b"],
    ["project:web apple", "b"],
    ["apple rate", ""],
    ["since:2d", "ab"],
    ["", "abcd"],
  ])("%j leaves %s", (filter, left) => {
    const rows = rowsOf({ filter });
    expect(ids(rows)).toBe(left);
    expect(rows.left.filtered).toBe(4 - left.length);
  });

  test("hits are positions in the shown title, and only of the words", () => {
    const [row] = rowsOf({ filter: "limits status:idle" }).rows;
    expect(row?.type === "session" && [...row.hits].sort((a, b) => a - b)).toEqual([5, 6, 7, 8, 9, 10]);
  });

  test("looks through our own name too, and marks the hits in it", () => {
    const memory = new Memory(temporaryDirectory());
    memory.set("name", "statefile:d", "zebra crossing");
    const [row] = rowsOf({ filter: "zebra" }, SESSIONS, memory).rows;
    expect(row).toMatchObject({ key: "statefile:d", alias: "zebra crossing", hits: [0, 1, 2, 3, 4] });
  });
});

describe("what is left out", () => {
  test("only a directory and what lies below it, when that is asked for", () => {
    const sessions = [
      sessionOf("a", { cwd: "/home/ada/web" }),
      sessionOf("b", { cwd: "/home/ada/web/api" }),
      sessionOf("c", { cwd: "/home/ada/website" }),
      sessionOf("d", { cwd: null }),
    ];
    const rows = rowsOf({ scope: "/home/ada/web" }, sessions);
    expect(ids(rows)).toBe("ab");
    expect(rows.left.elsewhere).toBe(2);
  });

  test("is counted by its reason, and listed with all", () => {
    const memory = new Memory(temporaryDirectory());
    memory.set("superseded", "statefile:a", { by: "statefile:b", at: "", path: "", bytes: 0 });
    memory.set("withdrawn", "statefile:b", true);
    memory.set("hidden", "statefile:c", true);
    const sessions = [...SESSIONS, sessionOf("e", { hidden: true })];
    const rows = rowsOf({}, sessions, memory);
    expect(ids(rows)).toBe("d");
    expect(rows.left).toMatchObject({ hidden: 2, superseded: 2, filtered: 0 });
    expect(rowsOf({ all: true }, sessions, memory).keys).toHaveLength(5);
  });
});

test("rows are made anew only when something that they are made from changed", () => {
  const memory = new Memory(temporaryDirectory());
  const store = newStore(now);
  store.setState({ sessions: new Map(SESSIONS.map((one) => [one.key, one])) });
  const select = rowsSelector(memory);
  const first = select(store.getState());
  store.setState({ clock: now + 60_000, scanning: false });
  store.setState((state) => ({ view: { ...state.view, selected: "statefile:b", focus: "detail" } }));
  expect(select(store.getState())).toBe(first);
  store.setState((state) => ({ view: { ...state.view, filter: "since:1d" } }));
  const recent = select(store.getState());
  expect(recent.keys).toEqual(["statefile:a"]);
  store.setState({ clock: now + 86_400_000 });
  expect(select(store.getState()).keys).toEqual([]);
});
