import { describe, expect, it } from "vitest";
import { fixture } from "../../support/fixtures.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { describeRoot, expected, ROOTS } from "./expected.ts";

/** Fields of EXPECTED.json that say how it was made, and what a reader leaves alone. */
const ABOUT = new Set(["dir", "notes", "ignoredFiles"]);

function comparable(value: unknown): unknown {
  if (typeof value === "number") return Number(value.toPrecision(12));
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, comparable(item)]));
}

describe("what the library reads of each root", () => {
  it.each(ROOTS)("%s: every field of EXPECTED.json", async (root) => {
    const before = treeHash(fixture("herrscher", root));
    const described = await describeRoot(fixture("herrscher", root));
    expect(treeHash(fixture("herrscher", root))).toEqual(before);
    const wanted = Object.entries(expected.roots[root] ?? {}).filter(([key]) => !ABOUT.has(key));
    expect(wanted.length).toBeGreaterThan(1);
    const sessions = expected.roots[root]?.sessions ?? [];
    for (const [at, row] of sessions.entries()) {
      const ours = (described.sessions as Record<string, unknown>[])[at];
      for (const [key, value] of Object.entries(row)) {
        expect(comparable(ours?.[key]), `${row.name}: ${key}`).toEqual(comparable(value));
      }
    }
    for (const [key, value] of wanted) expect(comparable(described[key]), key).toEqual(comparable(value));
  });
});
