import { describe, expect, test } from "vitest";
import { joinedKeys, joinSessions } from "../../src/session/join.ts";
import { blankSnapshot, type Snapshot } from "../../src/session/snapshot.ts";

function session(source: string, id: string, part: Partial<Snapshot> = {}): Snapshot {
  const key = `${source}:${id}`;
  return { ...blankSnapshot({ key, source, id, root: "/r", path: `/r/${id}` }), ...part };
}

const asMap = (...all: Snapshot[]): Map<string, Snapshot> => new Map(all.map((one) => [one.key, one]));
const pane = (lastEvent: string): Snapshot["panes"] => [
  { role: "primary", agent: "claude", state: "working", activity: null, tool: null, lastEvent },
];

describe("joining across sources", () => {
  const conversation = session("claude", "c1", {
    title: "Fix it",
    updatedAt: "2026-11-20T12:00:00.000Z",
    status: "idle",
  });
  const tracker = session("questmaster", "qm-1", {
    links: [{ source: "claude", id: "c1" }],
    status: "needs-input",
    certainty: "recorded",
    activity: "Question: which one?",
    why: ["hook Notification"],
    panes: pane("2026-11-20T12:00:01.000Z"),
    livePane: "%7",
  });

  test("a pane and its conversation are one row with both evidences", () => {
    const { sessions, into } = joinSessions(asMap(conversation, tracker));
    expect([...sessions.keys()]).toEqual(["claude:c1"]);
    expect(into.get("questmaster:qm-1")).toBe("claude:c1");
    const row = sessions.get("claude:c1");
    expect(row).toMatchObject({
      title: "Fix it",
      status: "needs-input",
      activity: "Question: which one?",
      livePane: "%7",
    });
    expect(row?.why[0]).toBe("questmaster: hook Notification");
    expect(row && joinedKeys(row)).toEqual(["questmaster:qm-1"]);
  });

  test.each([
    ["the agent's own record that it works wins", { status: "working", certainty: "recorded" }, {}, "working"],
    ["an older hook loses to a newer transcript", { updatedAt: "2026-11-20T12:05:00.000Z" }, {}, "idle"],
    ["a tracker that only knows it stopped says nothing of now", {}, { status: "stopped" }, "idle"],
  ] as [string, Partial<Snapshot>, Partial<Snapshot>, string][])("%s", (_what, own, other, status) => {
    const joined = joinSessions(asMap({ ...conversation, ...own }, { ...tracker, ...other }));
    expect(joined.sessions.get("claude:c1")?.status).toBe(status);
  });

  test("a pointer to a conversation that is not read joins nothing", () => {
    const lost = { ...tracker, links: [{ source: "claude", id: "gone" }] };
    const { sessions, into } = joinSessions(asMap(conversation, lost));
    expect(sessions.size).toBe(2);
    expect(into.size).toBe(0);
  });

  test("a row whose parts did not change keeps its object", () => {
    const first = joinSessions(asMap(conversation, tracker)).sessions.get("claude:c1");
    const other = session("claude", "c2");
    expect(joinSessions(asMap(conversation, tracker, other)).sessions.get("claude:c1")).toBe(first);
  });

  test("a questmaster pane and a herrscher row of one conversation are one row", () => {
    const row = session("herrscher", "main", { links: [{ source: "claude", id: "c1" }], status: "paused" });
    const { sessions } = joinSessions(asMap(conversation, tracker, row));
    expect(sessions.size).toBe(1);
    expect([...sessions.values()].flatMap(joinedKeys)).toEqual(["questmaster:qm-1", "herrscher:main"]);
  });
});
