import { appendFileSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Memory } from "../../src/memory/memory.ts";
import { configFile, stateDirectory } from "../../src/memory/state-directory.ts";
import { temporaryDirectory } from "../support/temp.ts";

const directory = (): string => join(temporaryDirectory(), "state", "forktail");
const file = (dir: string): string => join(dir, "memory.jsonl");

describe("our own memory", () => {
  test("makes nothing before there is something to remember, and then only for its owner", () => {
    const dir = directory();
    const memory = new Memory(dir);
    expect(memory.get("pinned", "statefile:1")).toBeNull();
    memory.set("pinned", "statefile:1", null);
    expect(existsSync(dir)).toBe(false);
    memory.set("pinned", "statefile:1", true);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(file(dir)).mode & 0o777).toBe(0o600);
  });

  test("outlives the program; the last word on a key counts, null takes it back", () => {
    const dir = directory();
    const memory = new Memory(dir);
    memory.set("note", "a", "one");
    memory.set("note", "a", "two");
    memory.set("tags", "a", ["x", "y"]);
    memory.set("pinned", "b", true);
    memory.set("pinned", "b", null);
    const later = new Memory(dir);
    expect(later.get("note", "a")).toBe("two");
    expect(later.get("tags", "a")).toEqual(["x", "y"]);
    expect(later.get("pinned", "b")).toBeNull();
    expect([...later.all("note")]).toEqual([["a", "two"]]);
  });

  test("writes nothing when nothing changed", () => {
    const dir = directory();
    const memory = new Memory(dir);
    memory.set("tags", "a", ["x"]);
    const size = statSync(file(dir)).size;
    const { revision } = memory;
    memory.set("tags", "a", ["x"]);
    expect(statSync(file(dir)).size).toBe(size);
    expect(memory.revision).toBe(revision);
  });

  test("is shared by two forktails: each sees the other's lines at its next look", () => {
    const dir = directory();
    const [one, two] = [new Memory(dir), new Memory(dir)];
    one.set("note", "a", "from one");
    expect(two.get("note", "a")).toBeNull();
    expect(two.refresh()).toBe(true);
    expect(two.get("note", "a")).toBe("from one");
    expect(two.refresh()).toBe(false);
    two.set("note", "b", "from two");
    one.set("pinned", "c", true);
    expect(one.get("note", "b")).toBe("from two");
    two.refresh();
    expect(two.get("pinned", "c")).toBe(true);
  });

  test.each([
    ["not JSON", "garbage"],
    ["another shape", '{"kind":"pinned"}'],
    ["an unknown kind", '{"kind":"mood","key":"a","value":"good"}'],
    ["a value that its kind does not have", '{"kind":"pinned","key":"a","value":"yes"}'],
    ["invalid UTF-8", "\xff\xfe"],
    ["a name that all objects have", '{"kind":"__proto__","key":"a","value":1}'],
    ["an empty line", ""],
  ])("a damaged line costs itself: %s", (_what, line) => {
    const dir = directory();
    const memory = new Memory(dir);
    memory.set("note", "a", "before");
    appendFileSync(file(dir), `${line}\n`, "latin1");
    memory.set("note", "b", "after");
    const later = new Memory(dir);
    expect([later.get("note", "a"), later.get("note", "b"), later.get("pinned", "a")]).toEqual([
      "before",
      "after",
      null,
    ]);
  });

  test("a torn last line costs itself, not what is remembered next", () => {
    const dir = directory();
    const memory = new Memory(dir);
    memory.set("note", "a", "before");
    appendFileSync(file(dir), '{"kind":"note","key":"b","va');
    memory.set("note", "c", "after");
    expect(memory.get("note", "c")).toBe("after");
    expect(new Memory(dir).get("note", "c")).toBe("after");
    expect(new Memory(dir).get("note", "a")).toBe("before");
  });

  test("a memory that was deleted or replaced is read anew", () => {
    const dir = directory();
    const memory = new Memory(dir);
    memory.set("note", "a", "old and rather long, so that the new file is shorter");
    writeFileSync(file(dir), '{"kind":"note","key":"b","value":"new"}\n');
    expect(memory.refresh()).toBe(true);
    expect([memory.get("note", "a"), memory.get("note", "b")]).toEqual([null, "new"]);
    writeFileSync(file(dir), "");
    expect(memory.refresh()).toBe(true);
    expect(memory.get("note", "b")).toBeNull();
  });

  test("never follows a link that lies in its place", () => {
    const dir = directory();
    const memory = new Memory(dir);
    memory.set("note", "a", "x");
    const other = temporaryDirectory();
    writeFileSync(join(other, "theirs.jsonl"), '{"kind":"note","key":"a","value":"theirs"}\n');
    symlinkSync(join(other, "theirs.jsonl"), join(other, "memory.jsonl"));
    expect(new Memory(other).get("note", "a")).toBeNull();
  });
});

describe("compaction", () => {
  const filled = (dir: string): Memory => {
    const memory = new Memory(dir);
    memory.set("pinned", "kept", true);
    memory.set("note", "kept", "a note");
    memory.set("pinned", "dropped", true);
    memory.set("pinned", "dropped", null);
    const lines = Array.from({ length: 9000 }, (_, at) => {
      return `${JSON.stringify({ kind: "seen", key: `statefile:${at % 50}`, value: `mark ${"x".repeat(40)} ${at}` })}\n`;
    });
    appendFileSync(file(dir), lines.join(""));
    memory.refresh();
    return memory;
  };
  const everything = (memory: Memory): unknown =>
    (["pinned", "note", "seen"] as const).map((kind) => [...memory.all(kind)].sort());

  test("keeps everything that counts, in a small file", async () => {
    const dir = directory();
    const memory = filled(dir);
    const before = everything(memory);
    await memory.compact();
    expect(statSync(file(dir)).size).toBeLessThan(10_000);
    expect(statSync(file(dir)).mode & 0o777).toBe(0o600);
    expect(everything(memory)).toEqual(before);
    expect(everything(new Memory(dir))).toEqual(before);
    expect(readdirSync(dir)).toEqual(["memory.jsonl"]);
  });

  test("keeps what another forktail wrote a moment before, and that one goes on", async () => {
    const dir = directory();
    const memory = filled(dir);
    const other = new Memory(dir);
    other.set("note", "other", "written just now");
    await memory.compact();
    expect(memory.get("note", "other")).toBe("written just now");
    other.set("note", "later", "and later");
    memory.refresh();
    expect(memory.get("note", "later")).toBe("and later");
    expect(everything(other)).toEqual(everything(memory));
  });

  test("keeps the lines of a newer forktail that we do not understand", async () => {
    const dir = directory();
    const memory = filled(dir);
    appendFileSync(file(dir), '{"kind":"mood","key":"a","value":"good"}\n{"kind":"mood","key":"a","value":"better"}\n');
    memory.refresh();
    await memory.compact();
    const text = readFileSync(file(dir), "utf8");
    expect(text).toContain('{"kind":"mood","key":"a","value":"better"}\n');
    expect(text).not.toContain('"good"');
  });

  test("leaves a small file as it is", async () => {
    const dir = directory();
    const memory = new Memory(dir);
    memory.set("note", "a", "one");
    memory.set("note", "a", "two");
    const before = readFileSync(file(dir), "utf8");
    await memory.compact();
    expect(readFileSync(file(dir), "utf8")).toBe(before);
  });
});

describe("where it lies", () => {
  test.each([
    [{ FORKTAIL_STATE_DIR: "/s", HOME: "/h" }, "/s"],
    [{ XDG_STATE_HOME: "/x", HOME: "/h" }, "/x/forktail"],
    [{ HOME: "/h" }, "/h/.local/state/forktail"],
  ])("%j: %s", (env, path) => {
    expect(stateDirectory(env)).toBe(path);
  });

  test.each([
    [{ FORKTAIL_CONFIG: "/c.json", HOME: "/h" }, "/c.json"],
    [{ XDG_CONFIG_HOME: "/x", HOME: "/h" }, "/x/forktail/config.json"],
    [{ HOME: "/h" }, "/h/.config/forktail/config.json"],
  ])("the config of %j: %s", (env, path) => {
    expect(configFile(env)).toBe(path);
  });
});
