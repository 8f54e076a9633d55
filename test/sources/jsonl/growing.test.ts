import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Snapshot } from "../../../src/session/snapshot.ts";
import { claudeSource } from "../../../src/sources/claude/source.ts";
import { codexSource } from "../../../src/sources/codex/source.ts";
import { fixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { temporaryDirectory } from "../../support/temp.ts";

const NOBODY = evidenceOf("2026-11-20T12:00:00.000Z");
const TREES = [
  { source: claudeSource, home: join(fixture("claude", "home"), ".claude") },
  { source: codexSource, home: join(fixture("codex", "home"), ".codex") },
];

/** Without the file's own time, and costs to nine digits: they are added up in another order. */
function comparable(snapshot: Snapshot): unknown {
  return JSON.parse(
    JSON.stringify(snapshot, (key, value) => (key === "cost" && typeof value === "number" ? value.toFixed(9) : value)),
  );
}

describe.each(TREES)("a session of $source.name", ({ source, home }) => {
  const files = readdirSync(home, { recursive: true, encoding: "utf8" }).filter((name) =>
    /(?:[0-9a-f-]{36}|rollout[^/]*)\.jsonl$/u.test(name),
  );

  test("that was read while all files grew line by line is the one that is read at once", async () => {
    const root = temporaryDirectory();
    const lines = files.map((name) => readFileSync(join(home, name), "utf8").split("\n"));
    for (const name of files) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), "");
    }
    const { reader, seen } = await readSource(source, [root], NOBODY);
    const longest = Math.max(...lines.map((one) => one.length));
    for (let at = 0; at < longest; at += 1) {
      const grown: string[] = [];
      for (const [i, name] of files.entries()) {
        const line = lines[i]?.[at];
        if (line === undefined) continue;
        const last = at === (lines[i]?.length ?? 0) - 1;
        appendFileSync(join(root, name), last ? line : `${line}\n`);
        grown.push(join(root, name));
      }
      seen.take(await reader.apply(grown, NOBODY));
    }
    const fresh = await readSource(source, [root], NOBODY);
    expect([...seen.snapshots.keys()].sort()).toEqual([...fresh.seen.snapshots.keys()].sort());
    expect(seen.snapshots.size).toBeGreaterThan(5);
    for (const [key, snapshot] of fresh.seen.snapshots) {
      const before = seen.snapshots.get(key);
      expect(before === undefined ? undefined : comparable(before)).toEqual(comparable(snapshot));
    }
    expect(seen.problems).toEqual(fresh.seen.problems);
  });
});
