import { basename } from "node:path";
import { expect, test } from "vitest";
import { bytesOf, type Folded, runNow } from "../../../src/files/fold.ts";
import type { CodexFile } from "../../../src/sources/codex/file.ts";
import { codexFold } from "../../../src/sources/codex/fold.ts";
import { parseRolloutName } from "../../../src/sources/codex/rollout-name.ts";
import type { RolloutLookup } from "../../../src/sources/codex/rollouts.ts";
import { CodexTranscript } from "../../../src/sources/codex/transcript.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { readBackward, readForward } from "../../support/walk-pages.ts";
import { Rollout } from "./rows.ts";

/** A rollout's events that count how often somebody looks what they are. */
function watched(one: Rollout, path: string) {
  const bytes = Buffer.from(one.text());
  const state = codexFold.initial();
  runNow(codexFold.advance(state, bytesOf(bytes), 0));
  let looks = 0;
  state.events = state.events.map(
    (event) =>
      new Proxy(event, {
        get(target, key) {
          if (key === "k") looks += 1;
          return Reflect.get(target, key);
        },
      }),
  );
  const { length: size } = bytes;
  const folded: Folded<CodexFile> = {
    ...{ path, dev: 1, ino: 1, size, mtimeMs: 0, birthtimeMs: 0, offset: size, guard: "", state },
  };
  return { folded, looks: () => looks };
}

async function looksAt(
  turns: number,
  paginated: boolean,
  settings: boolean,
  read: typeof readForward,
): Promise<number> {
  const root = temporaryDirectory();
  const one = new Rollout("2026-11-10T09:00:00.000Z", { paginated });
  for (let i = 1; i <= turns; i += 1) {
    one
      .prompt(`p${i}`)
      .call(`c${i}`)
      .result(`c${i}`)
      .reply(`a${i}`)
      .total([100 * i, 10 * i], [100, 10])
      .done();
  }
  if (!settings) one.rows.splice(0, one.rows.length, ...one.rows.filter((row) => row.type !== "turn_context"));
  const path = one.write(root);
  const { folded, looks } = watched(one, path);
  const name = parseRolloutName(basename(path));
  if (name === null) throw new Error("no name");
  const current = {
    path,
    root: { source: "codex", index: 1, path: root, explicit: true },
    name,
    archived: false,
    folded,
  };
  const lookup: RolloutLookup = { of: () => [current], madeFrom: () => null, pointingAt: () => [] };
  const refresh = async () => ({ current, files: [current], lookup });
  const transcript = new CodexTranscript({ refresh, thread: () => [] });
  const before = looks();
  const entries = await read(transcript, { view: "timeline" }, 500);
  expect(entries.filter((entry) => entry.forkable)).toHaveLength(turns - 1);
  return looks() - before;
}

test.each([
  ["a paginated thread", true, true],
  ["a legacy thread", false, true],
  ["a legacy thread without settings", false, false],
])("reading all of %s looks at each row a few times, however many there are", async (_, paginated, settings) => {
  for (const read of [readForward, readBackward]) {
    const [short, long] = [
      await looksAt(150, paginated, settings, read),
      await looksAt(600, paginated, settings, read),
    ];
    expect(long / short).toBeLessThan(4.5);
  }
});
