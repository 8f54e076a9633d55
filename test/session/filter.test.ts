import { describe, expect, test } from "vitest";
import { parseFilter, passes, searchText, spanMs } from "../../src/session/filter.ts";
import { sessionOf } from "../support/sessions.ts";

const now = Date.parse("2026-09-01T12:00:00Z");
const session = sessionOf("7f00a1e2", {
  title: "Fix the rate limiter",
  name: "limits",
  agent: "codex",
  models: ["anthropic/claude-sonnet"],
  project: "web",
  cwd: "/home/ada/web",
  status: "needs-input",
  native: "waiting-user",
  extra: { gitBranch: "fix/limits" },
  updatedAt: "2026-09-01T10:00:00.000Z",
  panes: [{ role: "primary", agent: "opencode", state: "working", activity: null, tool: null, lastEvent: null }],
});

test("a filter line is words and operators; an unknown operator is a word", () => {
  expect(parseFilter("  agent:Codex  Rate status:needs foo:bar url: ")).toEqual({
    words: ["rate", "foo:bar", "url:"],
    terms: [
      { field: "agent", value: "codex" },
      { field: "status", value: "needs" },
    ],
  });
  expect(parseFilter("")).toEqual({ words: [], terms: [] });
});

describe("operators", () => {
  test.each([
    ["agent:codex", true],
    ["agent:CODEX", true],
    ["agent:opencode", true],
    ["agent:statefile", true],
    ["agent:pi", false],
    ["status:needs-input", true],
    ["status:needs", true],
    ["status:n", true],
    ["status:waiting-user", true],
    ["status:failed", false],
    ["is:needs-input", true],
    ["is:pinned", true],
    ["project:web", true],
    ["project:/home/ada", true],
    ["project:api", false],
    ["branch:limits", true],
    ["branch:main", false],
    ["source:statefile", true],
    ["source:state", false],
    ["model:sonnet", true],
    ["model:gpt", false],
    ["since:3h", true],
    ["since:90m", false],
    ["since:soon", false],
    ["tag:ur", true],
    ["tag:later", false],
    ["title:limiter", true],
    ["title:limits", true],
    ["id:00a1", true],
    ["agent:codex status:failed", false],
    ["words alone never exclude", true],
  ])("%s: %s", (text, passed) => {
    expect(passes(session, parseFilter(text), { tags: ["urgent"], pinned: true, now })).toBe(passed);
  });

  test("since: leaves out what has no time", () => {
    const timeless = sessionOf("1", { updatedAt: null });
    expect(passes(timeless, parseFilter("since:9w"), { tags: [], pinned: false, now })).toBe(false);
  });
});

test.each([
  ["90s", 90_000],
  ["30m", 1_800_000],
  ["4h", 14_400_000],
  ["2d", 172_800_000],
  ["3w", 1_814_400_000],
  ["2", null],
  ["d", null],
  ["1.5h", null],
  ["9999999d", null],
])("%s is a span of %s ms", (text, ms) => {
  expect(spanMs(text)).toBe(ms);
});

test("words look through everything a person would remember", () => {
  for (const part of ["Fix the rate", "limits", "web", "codex", "sonnet", "7f00a1e2"]) {
    expect(searchText(session)).toContain(part);
  }
});
