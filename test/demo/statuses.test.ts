import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { startDemo } from "../../src/demo/play.ts";
import { PLAYERS } from "../../src/demo/players/index.ts";
import { parseScenario, type Scenario } from "../../src/demo/scenario.ts";
import { takeEvidence } from "../../src/probe/take.ts";
import { STATUS_NAMES } from "../../src/session/status.ts";
import { claudeSource } from "../../src/sources/claude/source.ts";
import { codebotSource } from "../../src/sources/codebot/source.ts";
import { herrscherSource } from "../../src/sources/herrscher/source.ts";
import { questmasterSource } from "../../src/sources/questmaster/source.ts";
import { statefileSource } from "../../src/sources/statefile/source.ts";
import { readSource } from "../support/read-source.ts";
import { temporaryDirectory } from "../support/temp.ts";

const now = new Date("2026-11-20T12:00:00.000Z");

/** A machine without locks and without a tmux server. */
const NOTHING_ELSE = { locks: [], tmux: { panes: [], sessions: new Set<string>(), server: false } };

function bundled(source: string): Scenario[] {
  const folder = new URL(`../../assets/demo/${source}/`, import.meta.url);
  return readdirSync(folder).map((name) => parseScenario(JSON.parse(readFileSync(new URL(name, folder), "utf8"))));
}

test("the demo shows every status there is, and nothing in it is a problem or damaged", async () => {
  const seen = new Set<string>();
  for (const at of [0, 40, 600]) {
    for (const source of [statefileSource, codebotSource, herrscherSource, questmasterSource, claudeSource]) {
      const dir = temporaryDirectory();
      const demo = await startDemo({ dir, at, now, speed: Number.POSITIVE_INFINITY, sessions: bundled(source.name) });
      const env = { ...demo.env, FORKTAIL_NOW: now.toISOString(), TMPDIR: dir };
      const evidence = await takeEvidence(["processes"], env);
      const paths = demo.roots.map(({ path }) => path);
      const { reader, seen: read } = await readSource(source, paths, { ...evidence, ...NOTHING_ELSE }, { env });
      for (const snapshot of read.snapshots.values()) {
        seen.add(snapshot.status);
        expect(snapshot.damage).toEqual([]);
      }
      expect(read.snapshots.size).toBeGreaterThan(1);
      expect(read.problems).toEqual([]);
      await reader.close();
    }
  }
  expect(STATUS_NAMES.filter((name) => !seen.has(name))).toEqual(["unknown"]);
});

test("every player has sessions that come with the program, and every session has a player", () => {
  const folders = readdirSync(new URL("../../assets/demo/", import.meta.url));
  expect(folders.sort()).toEqual(PLAYERS.map((player) => player.source).sort());
});

test("the same moment is the same bytes for every tool", async () => {
  for (const { source } of PLAYERS) {
    const trees = [];
    for (let run = 0; run < 2; run += 1) {
      const dir = temporaryDirectory();
      await startDemo({ dir, at: 60, now, speed: Number.POSITIVE_INFINITY, sessions: bundled(source) });
      trees.push(contents(dir));
    }
    expect(trees[0]).toEqual(trees[1]);
  }
});

function contents(dir: string): Record<string, string> {
  const names = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    names.map((entry) => {
      const path = `${entry.parentPath}/${entry.name}`;
      // The directory itself is another one in every run, and a lock's path begins with it.
      return [path.slice(dir.length), readFileSync(path, "utf8").replaceAll(dir, "")];
    }),
  );
}
