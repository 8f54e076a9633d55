import { describe, expect, test } from "vitest";
import { type StatusOptions, statusLine } from "../../src/commands/status.ts";
import type { KnownCounts } from "../../src/memory/counts-file.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const counts = { "needs-input": 2, failed: 1, working: 3, done: 1, idle: 40 };
const fresh: KnownCounts = { at: NOW - 1000, counts };
const old: KnownCounts = { at: NOW - 61_000, counts };

describe("forktail status prints", () => {
  test.each<[string, KnownCounts | null, StatusOptions, string]>([
    ["what wants the person or goes on", fresh, {}, "▲2 ✗1 ●3 ✓1"],
    ["ASCII alone", fresh, { ascii: true }, "!2 x1 *3 +1"],
    ["a question mark when nobody keeps it fresh", old, {}, "▲2 ✗1 ●3 ✓1?"],
    ["an empty line when nothing is known", null, {}, ""],
    ["an empty line when all is quiet", { at: NOW, counts: { idle: 3 } }, {}, ""],
    [
      "colours for tmux",
      { at: NOW, counts: { "needs-input": 2, done: 1 } },
      { format: "tmux" },
      "#[fg=red,bold]▲2#[default] #[fg=green]✓1#[default]",
    ],
    [
      "tmux, ASCII and old at once",
      { at: 0, counts: { working: 1 } },
      { format: "tmux", ascii: true },
      "#[fg=yellow]*1#[default]?",
    ],
  ])("%s", (_, known, options, expected) => {
    expect(statusLine(known, NOW, options)).toBe(expected);
  });
});
