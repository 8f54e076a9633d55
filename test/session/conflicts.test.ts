import { describe, expect, test } from "vitest";
import { conflicts, directoriesOf } from "../../src/session/conflicts.ts";
import type { Snapshot } from "../../src/session/snapshot.ts";
import { sessionOf } from "../support/sessions.ts";

const live = (id: string, over: Partial<Snapshot> = {}): Snapshot =>
  sessionOf(id, { title: id, status: "working", cwd: `/src/${id}`, can: ["resume"], ...over });

const found = (sessions: Snapshot[], missing: string[] = []) =>
  conflicts(new Map(sessions.map((one) => [one.key, one])), new Set(missing));
const brief = (sessions: Snapshot[], missing: string[] = []) =>
  found(sessions, missing).map(({ kind, keys, path }) => [kind, keys.map((key) => key.split(":")[1]).join(), path]);

const edits = (...paths: unknown[]) => ({ extra: { edits: paths } });

describe("there is a warning", () => {
  test.each<[string, Snapshot[], [string, string, string | null][]]>([
    [
      "when two live sessions edit the same file, whatever the path looks like",
      [live("a", edits("/w/x.ts")), live("b", edits("/w/lib/../x.ts")), live("c", edits("/w/y.ts"))],
      [["same-file", "a,b", "/w/x.ts"]],
    ],
    [
      "once for the same two in many files, and once more for another two",
      [live("a", edits("/w/y", "/w/x", "/w/x")), live("b", edits("/w/x", "/w/y", "/w/z")), live("c", edits("/w/z"))],
      [
        ["same-file", "a,b", "/w/x"],
        ["same-file", "b,c", "/w/z"],
      ],
    ],
    [
      "when one of them only waits in its pane",
      [live("a", edits("/w/x")), live("b", { status: "idle", livePane: "%3", ...edits("/w/x") })],
      [["same-file", "a,b", "/w/x"]],
    ],
    [
      "when two work in one directory",
      [live("a", { cwd: "/w" }), live("b", { cwd: "/w/", status: "needs-input" }), live("c")],
      [["same-directory", "a,b", "/w"]],
    ],
    [
      "when a fork works beside its original",
      [live("a", { cwd: "/w" }), live("b", { cwd: "/w", parent: { key: "statefile:a", relation: "fork" } })],
      [["same-directory", "a,b", "/w"]],
    ],
    [
      "of the file alone when two share both directory and file",
      [live("a", { cwd: "/w", ...edits("/w/x") }), live("b", { cwd: "/w", ...edits("/w/x") })],
      [["same-file", "a,b", "/w/x"]],
    ],
    ["when one session is open twice", [live("a", { extra: { openTwice: true } })], [["open-twice", "a", null]]],
    ["when its two places are named", [live("a", { extra: { openTwice: ["%1", "%2"] } })], [["open-twice", "a", null]]],
  ])("%s", (_, sessions, expected) => {
    expect(brief(sessions)).toEqual(expected);
    expect(brief([...sessions].reverse())).toEqual(expected);
  });

  test("when the directory of live or resumable sessions is gone, one a directory", () => {
    const sessions = [
      live("a", { cwd: "/gone" }),
      live("b", { cwd: "/gone", status: "stopped" }),
      live("c", { cwd: "/also", status: "stopped" }),
      live("d", { cwd: "/gone", status: "archived" }),
      live("e", { cwd: "/gone", status: "stopped", can: [] }),
      live("f", { cwd: "/there" }),
    ];
    expect(brief(sessions, ["/gone", "/also"])).toEqual([
      ["directory-gone", "a,b", "/gone"],
      ["directory-gone", "c", "/also"],
    ]);
    expect(directoriesOf(sessions)).toEqual(new Set(["/gone", "/also", "/there"]));
  });

  test("worst first", () => {
    const sessions = [
      live("a", { cwd: "/gone" }),
      live("b", { cwd: "/w" }),
      live("c", { cwd: "/w", ...edits("/x") }),
      live("d", edits("/x")),
      live("e", { extra: { openTwice: true } }),
    ];
    const kinds = ["open-twice", "same-file", "same-directory", "directory-gone"];
    expect(found(sessions, ["/gone"]).map((one) => one.kind)).toEqual(kinds);
  });
});

describe("there is none", () => {
  test.each<[string, Snapshot[]]>([
    [
      "when the other one is stopped",
      [live("a", edits("/x")), live("b", { status: "stopped", livePane: "%1", ...edits("/x") })],
    ],
    [
      "when the other one is idle and nowhere open",
      [live("a", edits("/x")), live("b", { status: "idle", ...edits("/x") })],
    ],
    [
      "between a session and its own worker in one directory",
      [live("a", { cwd: "/w" }), live("b", { cwd: "/w", parent: { key: "statefile:a", relation: "worker" } })],
    ],
    [
      "of directories when one only rests there",
      [live("a", { cwd: "/w" }), live("b", { cwd: "/w", status: "idle", livePane: "%2" })],
    ],
    ["for sub-agents", [live("a", edits("/x")), live("b", { hidden: true, ...edits("/x") })]],
    [
      "for a session that a tracker follows, which is one row",
      [
        sessionOf("c", { key: "claude:c", source: "claude", status: "working", cwd: "/w" }),
        live("q", { cwd: "/w", links: [{ source: "claude", id: "c" }] }),
      ],
    ],
    [
      "when edits are no paths",
      [live("a", edits(1, null)), live("b", edits(1, null)), live("c", { extra: { edits: "x" } })],
    ],
    ["when it is open once", [live("a", { extra: { openTwice: ["%1"] } }), live("b", { extra: { openTwice: false } })]],
  ])("%s", (_, sessions) => {
    expect(brief(sessions)).toEqual([]);
  });
});

test("each says in one clean sentence who it is and what to do", () => {
  const sessions = [
    live("a", { title: "fix\u001b[31m\nit", cwd: "/w/\u202edir", ...edits("/w/x", "/w/y") }),
    live("b", { title: "b".repeat(300), ...edits("/w/x", "/w/y") }),
    live("c", { extra: { openTwice: ["pane %1", "pane %2"] } }),
  ];
  const says = found(sessions, ["/w/\u202edir"]).map((one) => one.says);
  expect(says).toEqual([
    "“c” is open twice (pane %1, pane %2) and its messages mix: close one of them, or fork it and go on in the copy",
    `“fix·[31m it” and “${"b".repeat(39)}…” edit the same file /w/x and 1 more: let one finish first, or give each a worktree of its own`,
    "“fix·[31m it” works in /w/dir, which is gone: make it again (git worktree add, or mkdir -p) before going on",
  ]);
});
