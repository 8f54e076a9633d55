import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  AlreadyClaimedError,
  AlreadyResolvedError,
  BlockedError,
  compareTaskIDs,
  sortTasksByID,
  TaskNotFoundError,
  TaskRefusal,
  type TaskSnapshot,
  TaskStore,
} from "../../../src/sources/codebot/index.ts";
import { copyOfFixture } from "../../support/fixtures.ts";
import { temporaryDirectory } from "../../support/temp.ts";

function storeIn(directory: string): TaskStore {
  const store = new TaskStore();
  store.setDir(directory);
  return store;
}

test("nothing is made before the first task is, and then what Go would write", () => {
  const directory = join(temporaryDirectory(), "tasks", "aaaaaaaa");
  const store = storeIn(directory);
  expect(store.list()).toEqual([]);
  expect(() => readdirSync(directory)).toThrow();
  store.create("a < b & c", "", "", { z: 1, a: "x" });
  expect(readdirSync(directory).sort()).toEqual([".highwatermark", "1.json"]);
  expect(readFileSync(join(directory, "1.json"), "utf8")).toBe(
    [
      "{",
      '  "id": "1",',
      '  "subject": "a \\u003c b \\u0026 c",',
      '  "status": "pending",',
      '  "blocks": [],',
      '  "blockedBy": [],',
      '  "metadata": {',
      '    "a": "x",',
      '    "z": 1',
      "  }",
      "}",
    ].join("\n"),
  );
  expect(readFileSync(join(directory, ".highwatermark"), "utf8")).toBe("1");
});

test("a task that Go wrote comes back byte for byte after an update that changes nothing", () => {
  const root = copyOfFixture("codebot", "dot-codebot");
  const directory = join(root, "tasks", "7ea37ea3");
  const store = storeIn(directory);
  for (const task of store.list()) {
    const before = readFileSync(join(directory, `${task.id}.json`), "utf8");
    store.update(task.id, {});
    expect(readFileSync(join(directory, `${task.id}.json`), "utf8")).toBe(before);
  }
});

test("without a directory everything stays in memory", () => {
  const store = new TaskStore();
  const seen: TaskSnapshot[] = [];
  store.setNotifyFn((snapshot) => seen.push(snapshot));
  const task = store.create("one");
  store.update(task.id, { status: "odd" });
  expect(store.snapshot()).toMatchObject({ pending: 0, inProgress: 0, completed: 0, total: 1 });
  expect(store.delete("1")).toBe(true);
  expect(store.delete("1")).toBe(false);
  expect(seen.map((snapshot) => snapshot.total)).toEqual([1, 1, 0]);
  expect(store.create("two").id).toBe("2");
});

test("what is returned is a copy: changing it changes nothing", () => {
  const store = new TaskStore();
  const task = store.create("one", "", "", { list: [1] });
  task.subject = "changed";
  task.blocks.push("9");
  expect(store.get("1")).toMatchObject({ subject: "one", blocks: [] });
});

test("metadata is merged and null takes a key away; completedAt comes and goes with completion", () => {
  const store = storeIn(join(temporaryDirectory(), "t"));
  store.create("one", "", "", { keep: 1, drop: 2 });
  const merged = store.update("1", { metadata: { drop: null, add: true }, status: "completed" });
  expect(merged?.metadata).toEqual({ keep: 1, add: true });
  expect(merged?.completedAt).toMatch(/^\d{4}-\d\d-\d\dT/u);
  const again = store.update("1", { status: "completed" });
  expect(again?.completedAt).toBe(merged?.completedAt);
  expect(store.update("1", { status: "pending" })?.completedAt).toBeNull();
  expect(store.update("1", { status: "deleted" })).toBeNull();
  expect(() => store.update("1", {})).toThrow(TaskNotFoundError);
});

test("a dependency is kept on both sides where both tasks exist", () => {
  const directory = join(temporaryDirectory(), "t");
  const store = storeIn(directory);
  for (const subject of ["one", "two", "three"]) store.create(subject);
  store.update("1", { addBlocks: ["2", "99"], addBlockedBy: ["3"] });
  const again = storeIn(directory);
  expect(again.get("1")).toMatchObject({ blocks: ["2", "99"], blockedBy: ["3"] });
  expect(again.get("2")).toMatchObject({ blockedBy: ["1"] });
  expect(again.get("3")).toMatchObject({ blocks: ["1"] });
});

test("a claim has four refusals, and the same owner may ask again", () => {
  const store = new TaskStore();
  store.create("done");
  store.create("free");
  store.create("waits");
  store.create("waits for one that is gone");
  store.update("1", { status: "completed" });
  store.update("3", { addBlockedBy: ["2"] });
  store.update("4", { addBlockedBy: ["99"] });
  const refusal = (id: string): unknown => {
    try {
      store.claim(id, "bob");
    } catch (error) {
      return error;
    }
    return null;
  };
  expect(store.claim("2", "ann").owner).toBe("ann");
  expect(store.claim("2", "ann").status).toBe("pending");
  expect(refusal("9")).toBeInstanceOf(TaskNotFoundError);
  expect(refusal("2")).toBeInstanceOf(AlreadyClaimedError);
  expect(refusal("1")).toBeInstanceOf(AlreadyResolvedError);
  expect(refusal("3")).toBeInstanceOf(BlockedError);
  expect(refusal("3")).toBeInstanceOf(TaskRefusal);
  // A blocker that does not exist is open for the search and resolved for the claim (codebot.md §10).
  expect(store.findClaimable()).toBeNull();
  expect(store.claim("4", "bob").owner).toBe("bob");
  expect(() => store.claim("2", "")).toThrow();
});

test("ids are never given again, not after deletions and not after a reset", () => {
  const directory = join(temporaryDirectory(), "t");
  const store = storeIn(directory);
  for (let n = 0; n < 3; n++) store.create("x");
  store.delete("3");
  expect(storeIn(directory).create("y").id).toBe("4");
  store.reset();
  expect(readdirSync(directory)).toEqual([".highwatermark"]);
  expect(readFileSync(join(directory, ".highwatermark"), "utf8")).toBe("4");
  expect(storeIn(directory).create("z").id).toBe("5");
  expect(() => storeIn(join(directory, "nowhere")).reset()).not.toThrow();
});

test("only numbered files count, what cannot be read is passed over, and a task goes by its own id", () => {
  const directory = temporaryDirectory();
  writeFileSync(
    join(directory, "7.json"),
    '{"id":"3","subject":"s","status":"pending","blocks":null,"blockedBy":null}',
  );
  writeFileSync(join(directory, "notes.json"), '{"id":"notes"}');
  writeFileSync(join(directory, "8.json"), '{"id":');
  mkdirSync(join(directory, "9.json"));
  const store = storeIn(directory);
  expect(store.list()).toMatchObject([{ id: "3", blocks: [], blockedBy: [] }]);
  expect(store.create("next").id).toBe("8");
});

test("a task id that is no number never becomes a path", () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "1.json"), '{"id":"../../evil","subject":"s","status":"pending"}');
  const store = storeIn(directory);
  expect(() => store.update("../../evil", { status: "completed" })).toThrow(/cannot be a file's name/u);
  expect(store.delete("../../evil")).toBe(true);
  expect(readdirSync(directory)).toEqual(["1.json"]);
});

test("a directory that vanished is made again with the next write", () => {
  const directory = join(temporaryDirectory(), "t");
  const store = storeIn(directory);
  store.create("one");
  rmSync(directory, { recursive: true });
  store.update("1", { status: "in_progress" });
  expect(JSON.parse(readFileSync(join(directory, "1.json"), "utf8"))).toMatchObject({ status: "in_progress" });
});

test.each([
  ["one store for all", 50, 200],
  ["a store for each", 20, 60],
] as const)(
  "with %s, %d claimers at once give each of %d tasks to exactly one of them",
  async (kind, claimers, many) => {
    const directory = join(temporaryDirectory(), "t");
    const shared = storeIn(directory);
    for (let n = 0; n < many; n++) shared.create(`task ${n}`);
    const got: string[][] = [];
    let lost = 0;
    await Promise.all(
      Array.from({ length: claimers }, async (_, n) => {
        const store = kind === "a store for each" ? storeIn(directory) : shared;
        const mine: string[] = [];
        got.push(mine);
        for (let next = store.findClaimable(); next !== null; next = store.findClaimable()) {
          await Promise.resolve();
          try {
            mine.push(store.claim(next.id, `claimer-${n}`).id);
          } catch (error) {
            if (!(error instanceof AlreadyClaimedError)) throw error;
            lost += 1;
          }
        }
      }),
    );
    const all = got.flat();
    expect(all).toHaveLength(many);
    expect(new Set(all).size).toBe(many);
    expect(lost).toBeGreaterThan(0);
    for (const task of storeIn(directory).list()) {
      expect(got[Number(task.owner.slice("claimer-".length))]).toContain(task.id);
    }
    expect(readdirSync(directory).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  },
  60_000,
);

test.each([
  [
    ["10", "8", "9"],
    ["8", "9", "10"],
  ],
  [
    ["b", "2", "a", "1"],
    ["1", "2", "a", "b"],
  ],
  [
    ["07", "+5", "-1"],
    ["-1", "+5", "07"],
  ],
])("%j sorts as %j", (ids, sorted) => {
  const tasks = ids.map((id) => ({ ...new TaskStore().create("x"), id }));
  sortTasksByID(tasks);
  expect(tasks.map((task) => task.id)).toEqual(sorted);
  expect(Math.sign(compareTaskIDs(ids[0] ?? "", ids[1] ?? ""))).toBe(
    -Math.sign(compareTaskIDs(ids[1] ?? "", ids[0] ?? "")),
  );
});
