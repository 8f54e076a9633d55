import { statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, test } from "vitest";
import { planUndo, revertSession, undoRevert } from "../../src/actions/fork.ts";
import { openWorkplace, readEverything } from "../../src/commands/context.ts";
import { loadSqlite } from "../../src/sources/opencode/sqlite.ts";
import type { Forked } from "../../src/sources/source.ts";
import { addSession, addTurn, newDatabase } from "../sources/opencode/database.ts";
import { fakeProgram } from "../sources/opencode/fake-program.ts";
import { BEGINNING, records, turn, writeSession } from "../support/state-writer.ts";
import { makeDirectory, temporaryDirectory } from "../support/temp.ts";

const NOW = "2026-11-20T12:00:00.000Z";
const LATER = Date.parse(NOW) + 60_000;

const opened: Awaited<ReturnType<typeof openWorkplace>>[] = [];
afterEach(async () => {
  for (const place of opened.splice(0)) await place.live.close();
});

/** forktail as it starts: everything is read once. */
async function start(root: string, env: NodeJS.ProcessEnv) {
  const place = await openWorkplace({ root: [root] }, { env, only: true });
  opened.push(place);
  await readEverything(place);
  return place;
}

const machine = (): NodeJS.ProcessEnv => {
  return { HOME: "/nowhere", PATH: fakeProgram(), FORKTAIL_NOW: NOW, FORKTAIL_STATE_DIR: temporaryDirectory() };
};

describe("an undo withdraws a copy that nothing was added to, in a database that all sessions share", () => {
  /** A revert to before the second prompt, then `meanwhile`, then what an undo would do. */
  async function undone(meanwhile: (database: DatabaseSync, copy: Forked) => void) {
    const { root, path, database } = await newDatabase();
    const directory = makeDirectory(dirname(root), "pot");
    const turns = [
      { prompt: "Do", reply: "Did" },
      { prompt: "More", reply: "Most" },
    ];
    addSession(database, "ses_a", turns, { directory });
    database.close();
    const env = machine();
    const copy = await revertSession(await start(`opencode=${root}`, env), "opencode:ses_a", "msg_ses_a_1a");
    const { DatabaseSync } = await loadSqlite();
    const writer = new DatabaseSync(path);
    meanwhile(writer, copy);
    writer.close();
    const place = await start(`opencode=${root}`, env);
    const plan = await planUndo(place, null);
    expect(await undoRevert(place, "opencode:ses_a")).toEqual(plan);
    expect(place.memory.get("superseded", "opencode:ses_a")).toBeNull();
    expect(place.memory.get("withdrawn", copy.key)).toBe(plan?.withdrawn ? true : null);
    return plan?.withdrawn;
  }

  test("when nothing happened", async () => {
    expect(await undone(() => undefined)).toBe(true);
  });

  test("not when a prompt was added to it, though the file is no larger", async () => {
    const work = (database: DatabaseSync, { id, path }: Forked): void => {
      const { size } = statSync(path);
      addTurn(database, id, 7, LATER, { prompt: "Another way", reply: null });
      expect(statSync(path).size).toBe(size);
    };
    expect(await undone(work)).toBe(false);
  });

  test("also when the database grew by other sessions", async () => {
    const work = (database: DatabaseSync, { path }: Forked): void => {
      const { size } = statSync(path);
      addSession(database, "ses_other", [{ prompt: "x".repeat(50_000), reply: "y" }], { at: LATER });
      database.exec("pragma wal_checkpoint(truncate)");
      expect(statSync(path).size).toBeGreaterThan(size);
    };
    expect(await undone(work)).toBe(true);
  });

  test("not when it is gone", async () => {
    const remove = (database: DatabaseSync, { id }: Forked): void => {
      database.prepare("delete from session where id = ?").run(id);
    };
    expect(await undone(remove)).toBe(false);
  });
});

test.each([
  ["as it was made", "", true],
  ["longer", records(turn(6, "another way", "ok"), 6), false],
])("an undo withdraws a copy in a file of its own while that is %s", async (_, more, withdrawn) => {
  const sessions = temporaryDirectory();
  writeSession(sessions, "aaaaaaaa", [...BEGINNING, ...turn(3, "one", "1"), ...turn(6, "two", "2")]);
  const place = await start(`statefile=${sessions}`, machine());
  const copy = await revertSession(place, "statefile:aaaaaaaa", "6");
  // The screen may be asked before the watcher has seen the new file.
  writeFileSync(copy.path, more, { flag: "a" });
  expect(await planUndo(place, "statefile:aaaaaaaa")).toEqual({
    ...{ original: "statefile:aaaaaaaa", copy: copy.key, withdrawn },
  });
});
