import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  AlreadyClaimedError,
  AlreadyResolvedError,
  BlockedError,
  compareTaskIDs,
  readTaskDirectory,
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
  expect(store.create("next").id).toBe("10");
});

test("a numbered file keeps its number whatever it holds: no new task is written over it", () => {
  const directory = temporaryDirectory();
  const torn = '{"id":"5","subj';
  writeFileSync(join(directory, "5.json"), torn);
  expect(readTaskDirectory(directory).nextId).toBe(6);
  const store = storeIn(directory);
  expect(Array.from({ length: 3 }, () => store.create("x").id)).toEqual(["6", "7", "8"]);
  expect(readFileSync(join(directory, "5.json"), "utf8")).toBe(torn);
});

/** A directory with one task whose file says another number than its id. */
function mismatched(file: string, id: string): string {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, file), JSON.stringify({ id, subject: "s", status: "pending" }));
  return directory;
}

describe.each([
  ["another number", "9.json", "7"],
  ["no number", "5.json", "abc"],
  ["a path", "1.json", "../../evil"],
])("a task whose own id is %s stays in its file", (_name, file, id) => {
  test("when it is changed", () => {
    const directory = mismatched(file, id);
    storeIn(directory).update(id, { status: "completed" });
    expect(readdirSync(directory)).toEqual([file]);
    expect(storeIn(directory).list()).toMatchObject([{ id, status: "completed" }]);
  });

  test("when it is claimed, by one of two that knew it before", () => {
    const directory = mismatched(file, id);
    const [one, other] = [storeIn(directory), storeIn(directory)];
    one.claim(id, "me");
    expect(() => other.claim(id, "you")).toThrow(AlreadyClaimedError);
    expect(storeIn(directory).get(id)?.owner).toBe("me");
    expect(readdirSync(directory)).toEqual([file]);
  });

  test("when it is deleted", () => {
    const directory = mismatched(file, id);
    const store = storeIn(directory);
    expect(store.delete(id)).toBe(true);
    expect(store.get(id)).toBeNull();
    expect(readdirSync(directory)).toEqual([".highwatermark"]);
  });
});

test("a deleted task is gone from every file that holds it", () => {
  const directory = mismatched("9.json", "7");
  writeFileSync(join(directory, "7.json"), JSON.stringify({ id: "7", subject: "t", status: "pending" }));
  const store = storeIn(directory);
  store.delete("7");
  expect(store.list()).toEqual([]);
});

test("a claim sees a task, and what it waits for, in files that came since under other names", () => {
  const directory = temporaryDirectory();
  const store = storeIn(directory);
  store.create("waits");
  store.update("1", { addBlockedBy: ["7"] });
  writeFileSync(join(directory, "9.json"), JSON.stringify({ id: "7", subject: "s", status: "pending" }));
  expect(() => store.claim("1", "me")).toThrow(BlockedError);
  writeFileSync(join(directory, "8.json"), JSON.stringify({ id: "late", subject: "s", status: "pending" }));
  expect(store.claim("late", "me").owner).toBe("me");
});

test("an id that a task has already is not given to a new one, whatever the files are called", () => {
  const directory = mismatched("5.json", "7");
  expect(readTaskDirectory(directory).nextId).toBe(6);
  const store = storeIn(directory);
  expect([store.create("x").id, store.create("y").id]).toEqual(["6", "8"]);
  expect(store.get("7")?.subject).toBe("s");
});

test.each([
  ["an update", (store: TaskStore, bad: unknown) => store.update("1", { subject: "changed", metadata: { bad } })],
  ["a dependency", (store: TaskStore, bad: unknown) => store.update("1", { addBlocks: ["2"], metadata: { bad } })],
  ["a new task", (store: TaskStore, bad: unknown) => store.create("new", "", "", { bad })],
])("%s that cannot be written changes nothing in the store", (_name, change) => {
  const store = storeIn(join(temporaryDirectory(), "t"));
  store.create("one");
  store.create("two");
  const before = store.list();
  expect(() => change(store, 1n)).toThrow(TypeError);
  expect(store.list()).toEqual(before);
  expect(store.create("three").id).toBe("3");
});

test("the sequence of ids belongs to a directory; only one that was in memory goes along", () => {
  const [first, second] = [temporaryDirectory(), temporaryDirectory()];
  writeFileSync(join(first, ".highwatermark"), "40");
  const store = storeIn(first);
  expect(store.create("in the first").id).toBe("41");
  store.setDir(second);
  expect(store.create("in the second").id).toBe("1");
  store.setDir(first);
  expect(store.create("back again").id).toBe("42");
  const carried = new TaskStore();
  carried.create("x");
  carried.create("y");
  carried.delete("2");
  carried.setDir(join(second, "missing"));
  expect(carried.create("z").id).toBe("3");
});

test("a directory that cannot be read is not taken, and the one before stays", () => {
  const directory = temporaryDirectory();
  const store = storeIn(directory);
  store.create("one");
  writeFileSync(join(directory, "file"), "");
  expect(() => store.setDir(join(directory, "file"))).toThrow();
  expect(store.create("two").id).toBe("2");
  expect(existsSync(join(directory, "2.json"))).toBe(true);
});

test("the id of a deleted task is remembered where no mark was, and a mark that knows it stays as it is", () => {
  const directory = mismatched("3.json", "3");
  expect(storeIn(directory).delete("3")).toBe(true);
  expect(storeIn(directory).create("new").id).toBe("4");
  writeFileSync(join(directory, ".highwatermark"), "0012\n");
  storeIn(directory).delete("4");
  expect(readFileSync(join(directory, ".highwatermark"), "utf8")).toBe("0012\n");
});

test("without a mark that can be read no id is given and none taken back", () => {
  const directory = mismatched("3.json", "3");
  mkdirSync(join(directory, ".highwatermark"));
  const store = storeIn(directory);
  for (const change of [() => store.create("x"), () => store.delete("3"), () => store.reset()]) {
    expect(change).toThrow(/\.highwatermark/u);
  }
  expect(readdirSync(directory)).toEqual([".highwatermark", "3.json"]);
  expect(store.claim("3", "me").owner).toBe("me");
});

test("a reset passes over what is no file", () => {
  const directory = temporaryDirectory();
  const store = storeIn(directory);
  store.create("one");
  mkdirSync(join(directory, "0.json"));
  mkdirSync(join(directory, "3.json"));
  store.reset();
  expect(readdirSync(directory)).toEqual([".highwatermark", "0.json", "3.json"]);
  expect(store.create("new").id).toBe("4");
});

test("a task file that is far too large is passed over like one that holds no task", () => {
  const directory = mismatched("1.json", "1");
  writeFileSync(join(directory, "2.json"), "");
  truncateSync(join(directory, "2.json"), 3 * 1024 ** 3);
  expect(readTaskDirectory(directory)).toMatchObject({ tasks: [{ id: "1" }], unreadable: ["2.json"], nextId: 3 });
  expect(storeIn(directory).create("x").id).toBe("3");
});

test("metadata of any depth is listed", () => {
  const directory = mismatched("1.json", "1");
  const deep = `${'{"a":'.repeat(9000)}1${"}".repeat(9000)}`;
  writeFileSync(join(directory, "2.json"), `{"id":"2","subject":"s","status":"pending","metadata":${deep}}`);
  expect(storeIn(directory).list()).toHaveLength(2);
});

test("ids beyond what a double counts are given on", () => {
  const directory = mismatched("90071992547409931.json", "90071992547409931");
  expect(storeIn(directory).create("x").id).toBe("90071992547409932");
  expect(readFileSync(join(directory, ".highwatermark"), "utf8")).toBe("90071992547409932");
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
  [
    ["90071992547409930", "9007199254740994", "9007199254740993"],
    ["9007199254740993", "9007199254740994", "90071992547409930"],
  ],
  [
    ["x", "100000000000000000000", "99999999999999999999"],
    ["99999999999999999999", "100000000000000000000", "x"],
  ],
])("%j sorts as %j", (ids, sorted) => {
  const tasks = ids.map((id) => ({ ...new TaskStore().create("x"), id }));
  sortTasksByID(tasks);
  expect(tasks.map((task) => task.id)).toEqual(sorted);
  expect(Math.sign(compareTaskIDs(ids[0] ?? "", ids[1] ?? ""))).toBe(
    -Math.sign(compareTaskIDs(ids[1] ?? "", ids[0] ?? "")),
  );
});
