import { render } from "ink-testing-library";
import { expect, test } from "vitest";
import { STATUS_NAMES, STATUSES } from "../../src/session/status.ts";
import { Appearance, type Look } from "../../src/ui/appearance.ts";
import type { SessionRowFacts } from "../../src/ui/list/session-lines.ts";
import { rowsDrawn, SessionRow } from "../../src/ui/list/session-row.tsx";
import { OverlayFrame } from "../../src/ui/overlay/frame.tsx";
import { StyledLine } from "../../src/ui/styled-line.tsx";
import { span } from "../../src/ui/text/line.ts";
import { resolveTheme } from "../../src/ui/theme.ts";
import { sessionOf } from "../support/sessions.ts";

const look: Look = { theme: resolveTheme({ NO_COLOR: "1" }).theme, ascii: false, still: true };
const clock = Date.parse("2026-09-01T12:00:00Z");

function row(part: Partial<SessionRowFacts> = {}): SessionRowFacts {
  return {
    snapshot: sessionOf("7f00a1e2", { title: "Fix the rate limiter", updatedAt: "2026-09-01T10:00:00.000Z" }),
    alias: null,
    pinned: false,
    tags: "",
    depth: 0,
    hits: [],
    selected: false,
    focused: true,
    width: 60,
    ascii: false,
    clock,
    frame: 0,
    ...part,
  };
}

/** What a component draws, without its styles. */
const plain = (frame: string | undefined): string => (frame ?? "").replace(/\u001b\[[0-9;]*m/gu, "");

test.each(STATUS_NAMES)("a row says %s by its glyph and its word, not by colour alone", (status) => {
  const { snapshot } = row();
  const { lastFrame, unmount } = render(
    <SessionRow {...row({ snapshot: { ...snapshot, status, certainty: "recorded" } })} />,
  );
  const [first = "", second = ""] = plain(lastFrame()).split("\n");
  expect(second).toContain(status);
  if (status !== "working") expect(first).toContain(STATUSES[status].glyph);
  expect(first).toContain("Fix the rate limiter");
  expect(first.trimEnd().endsWith("2h")).toBe(true);
  unmount();
});

test("a guess has a question mark behind its word", () => {
  const { snapshot } = row();
  const { lastFrame, unmount } = render(
    <SessionRow {...row({ snapshot: { ...snapshot, status: "working", certainty: "guess" } })} />,
  );
  expect(plain(lastFrame())).toContain("working?");
  unmount();
});

test("our own name, tags and pin are shown in place of and beside the title", () => {
  const { lastFrame, unmount } = render(<SessionRow {...row({ alias: "limits", tags: "api urgent", pinned: true })} />);
  const frame = plain(lastFrame());
  expect(frame).toContain("limits");
  expect(frame).toContain("#api #urgent");
  expect(frame).not.toContain("Fix the rate limiter");
  unmount();
});

test("an equal row is not drawn again", () => {
  const facts = row();
  const { rerender, unmount } = render(<SessionRow {...facts} />);
  const before = rowsDrawn.count;
  rerender(<SessionRow {...facts} hits={[]} />);
  expect(rowsDrawn.count).toBe(before);
  rerender(<SessionRow {...facts} selected={true} />);
  expect(rowsDrawn.count).toBe(before + 1);
  unmount();
});

test("a line is drawn as it is, an empty one still takes a row, and a link leads where its span says", () => {
  const link = { ...span("docs", "link"), href: "https://example.com/" };
  const { lastFrame, rerender, unmount } = render(
    <Appearance.Provider value={look}>
      <StyledLine line={[span("see "), link]} />
    </Appearance.Provider>,
  );
  expect(lastFrame()).toContain("\u001b]8;;https://example.com/\u0007docs\u001b]8;;\u0007");
  rerender(
    <Appearance.Provider value={look}>
      <StyledLine line={[]} />
    </Appearance.Provider>,
  );
  expect(plain(lastFrame()).trim()).toBe("");
  unmount();
});

test("an overlay is as high as it was told, title first, and never wider", () => {
  const lines = ["one", "two", "x".repeat(200)].map((text) => [span(text)]);
  const { lastFrame, unmount } = render(<OverlayFrame title="Copy" lines={lines} width={40} height={4} ascii={true} />);
  const rows = plain(lastFrame()).split("\n");
  expect(rows).toHaveLength(4);
  expect(rows[0]).toContain("-- Copy -");
  for (const line of rows) expect(line.length).toBeLessThanOrEqual(40);
  unmount();
});
