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

test.each([70, 2500, 5000, 9000])("a task with metadata nested %d deep is changed and claimed", (levels) => {
  const directory = temporaryDirectory();
  const deep = `{"a":"\\u003c","b":${"[".repeat(levels)}1${"]".repeat(levels)}}`;
  const completedAt = "2026-07-20T10:00:00Z";
  writeFileSync(
    join(directory, "1.json"),
    `{"id":"1","subject":"s","status":"completed","metadata":${deep},"completedAt":"${completedAt}"}`,
  );
  const store = storeIn(directory);
  store.update("1", { owner: "me" });
  const lines = [
    '  "id": "1",',
    '  "subject": "s",',
    '  "status": "completed",',
    '  "owner": "me",',
    '  "blocks": [],',
    '  "blockedBy": [],',
    `  "metadata": ${deep},`,
    `  "completedAt": "${completedAt}"`,
  ];
  expect(readFileSync(join(directory, "1.json"), "utf8")).toBe(`{\n${lines.join("\n")}\n}`);
  store.update("1", { status: "pending", owner: "" });
  expect(store.claim("1", "you").owner).toBe("you");
  expect(storeIn(directory).get("1")).toMatchObject({ owner: "you", status: "pending" });
  const metadata = store.get("1")?.metadata ?? {};
  store.create("of the same", "", "", metadata);
  store.update("2", { metadata: { again: metadata, a: undefined } });
  expect(Object.keys(storeIn(directory).get("2")?.metadata ?? {})).toEqual(["again", "b"]);
});

test.each([
  ["in memory", () => new TaskStore()],
  ["in a directory", () => storeIn(temporaryDirectory())],
])("metadata that contains itself is refused %s", (_name, storeOf) => {
  const store = storeOf();
  const metadata: Record<string, unknown> = {};
  metadata.self = metadata;
  expect(() => store.create("x", "", "", metadata)).toThrow(TypeError);
  expect(store.list()).toEqual([]);
  store.create("x");
  expect(() => store.update("1", { metadata })).toThrow(TypeError);
  expect(store.list()).toMatchObject([{ id: "1", metadata: null }]);
});

describe.each([["9223372036854775807"], ["9223372036854775806"], ["90071992547409931"], ["9007199254740992"]])(
  "a number that codebot never came to, %s, does not count for the next id",
  (far) => {
    test("as a file's name", () => {
      const directory = mismatched(`${far}.json`, far);
      writeFileSync(join(directory, "4.json"), JSON.stringify({ id: "4", subject: "t", status: "pending" }));
      expect(readTaskDirectory(directory)).toMatchObject({ highWaterMark: 0, nextId: 5 });
      const store = storeIn(directory);
      expect([store.create("x").id, store.create("y").id]).toEqual(["5", "6"]);
      expect(store.list().map((task) => task.id)).toEqual(["4", "5", "6", far]);
      expect(readFileSync(join(directory, ".highwatermark"), "utf8")).toBe("6");
      store.reset();
      expect(readdirSync(directory)).toEqual([".highwatermark"]);
      expect(readFileSync(join(directory, ".highwatermark"), "utf8")).toBe("6");
      expect(storeIn(directory).create("z").id).toBe("7");
    });

    test("as a task's own id, when it is deleted", () => {
      const directory = mismatched("4.json", far);
      const store = storeIn(directory);
      expect(store.delete(far)).toBe(true);
      expect(readFileSync(join(directory, ".highwatermark"), "utf8")).toBe("4");
      expect([store.create("x").id, storeIn(directory).create("y").id]).toEqual(["5", "6"]);
    });

    test("as a task's own id, when the list is cleared", () => {
      const directory = mismatched("4.json", far);
      storeIn(directory).reset();
      expect(readFileSync(join(directory, ".highwatermark"), "utf8")).toBe("4");
    });

    test("as the mark", () => {
      const directory = mismatched("4.json", "4");
      writeFileSync(join(directory, ".highwatermark"), far);
      expect(readTaskDirectory(directory)).toMatchObject({ highWaterMark: 0, nextId: 5 });
      expect(storeIn(directory).create("x").id).toBe("5");
      expect(readFileSync(join(directory, ".highwatermark"), "utf8")).toBe("5");
    });
  },
);

test("the last number that counts is followed, and no file behind it is written over", () => {
  const directory = mismatched("9007199254740991.json", "9007199254740991");
  writeFileSync(join(directory, "9007199254740992.json"), "{");
  const store = storeIn(directory);
  expect([store.create("x").id, store.create("y").id]).toEqual(["9007199254740993", "9007199254740994"]);
  expect(storeIn(directory).create("z").id).toBe("9007199254740995");
  expect(readFileSync(join(directory, "9007199254740992.json"), "utf8")).toBe("{");
});

/** A store of three tasks that are only in memory: the second waits for the first, and there was a fourth. */
function inMemory(): TaskStore {
  const store = new TaskStore();
  for (const subject of ["one", "two", "three", "four"]) store.create(subject);
  store.delete("4");
  store.update("2", { addBlockedBy: ["1", "99"] });
  return store;
}

/** What the files of a directory hold. */
function filesIn(directory: string): Record<string, string> {
  return Object.fromEntries(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), "utf8")]));
}

describe("tasks that were only in memory", () => {
  test("keep their ids in a directory that has none yet, and the mark knows those that are gone", () => {
    const directory = join(temporaryDirectory(), "t");
    inMemory().setDir(directory);
    expect(Object.keys(filesIn(directory)).sort()).toEqual([".highwatermark", "1.json", "2.json", "3.json"]);
    expect(storeIn(directory).list()).toMatchObject([
      { id: "1", subject: "one", blocks: ["2"] },
      { id: "2", subject: "two", blockedBy: ["1", "99"] },
      { id: "3", subject: "three" },
    ]);
    expect(storeIn(directory).create("five").id).toBe("5");
  });

  test("get ids above every one that was given there, with what they wait for, and no file is written over", () => {
    const directory = mismatched("1.json", "7");
    writeFileSync(join(directory, "2.json"), '{"id":"broken');
    writeFileSync(join(directory, ".highwatermark"), "9");
    const before = filesIn(directory);
    const store = inMemory();
    const seen: TaskSnapshot[] = [];
    store.setNotifyFn((snapshot) => seen.push(snapshot));
    store.setDir(directory);
    expect(filesIn(directory)).toMatchObject({ "1.json": before["1.json"], "2.json": before["2.json"] });
    const listed = [
      { id: "7", subject: "s" },
      { id: "10", subject: "one", blocks: ["11"], blockedBy: [] },
      { id: "11", subject: "two", blocks: [], blockedBy: ["10", "99"] },
      { id: "12", subject: "three" },
    ];
    expect(store.list()).toMatchObject(listed);
    expect(storeIn(directory).list()).toMatchObject(listed);
    expect(seen).toMatchObject([{ items: listed }]);
    expect(readFileSync(join(directory, ".highwatermark"), "utf8")).toBe("12");
    expect(store.create("next").id).toBe("13");
  });

  test("keep an id that nothing there came to, and no two get the same", () => {
    const directory = mismatched("1.json", "3");
    const store = inMemory();
    store.setDir(directory);
    expect(store.list()).toMatchObject([
      { id: "2", subject: "two", blockedBy: ["5", "99"] },
      { id: "3", subject: "s" },
      { id: "5", subject: "one", blocks: ["2"] },
      { id: "6", subject: "three" },
    ]);
    expect(readdirSync(directory).sort()).toEqual([".highwatermark", "1.json", "2.json", "5.json", "6.json"]);
  });

  test("do not get the id of one that is gone there", () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, ".highwatermark"), "2");
    const store = inMemory();
    store.setDir(directory);
    expect(store.list().map(({ id, subject }) => [id, subject])).toEqual([
      ["3", "three"],
      ["5", "one"],
      ["6", "two"],
    ]);
  });

  test("stay there when the mark cannot be read", () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, ".highwatermark"));
    const store = inMemory();
    const before = store.list();
    expect(() => store.setDir(directory)).toThrow(/\.highwatermark/u);
    expect(readdirSync(directory)).toEqual([".highwatermark"]);
    expect(store.list()).toEqual(before);
  });

  test("stay there when one of them cannot be written", () => {
    const store = inMemory();
    store.update("2", { metadata: { bad: 1n } });
    const before = store.list();
    const directory = mismatched("1.json", "1");
    expect(() => store.setDir(directory)).toThrow(TypeError);
    expect(readdirSync(directory)).toEqual([".highwatermark", "1.json"]);
    expect(store.list()).toEqual(before);
    expect(store.create("five").id).toBe("5");
  });
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
