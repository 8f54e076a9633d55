import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { markOf, wayOf } from "../../../src/sources/opencode/open-database.ts";
import { opencodeSource } from "../../../src/sources/opencode/source.ts";
import { withoutSqliteNotice } from "../../../src/sources/opencode/sqlite.ts";
import { evidenceOf, readSource, type Seen } from "../../support/read-source.ts";
import { makeDirectory, temporaryDirectory } from "../../support/temp.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { addSession, newDatabase } from "./database.ts";

const NOW = "2026-11-20T12:00:00.000Z";
const HERE = dirname(fileURLToPath(import.meta.url));

/** Reads everything there is, and proves that nothing in the directory changed by it. */
async function readAll(root: string): Promise<Seen> {
  const before = treeHash(root);
  const { seen, reader } = await readSource(opencodeSource, [root], evidenceOf(NOW));
  for (const key of seen.snapshots.keys()) {
    const transcript = await reader.transcript(key);
    await transcript.page({ view: "timeline", at: { edge: "end" }, limit: 50 });
    await reader.requests(key);
  }
  await reader.close();
  expect(treeHash(root)).toEqual(before);
  return seen;
}

async function wayIn(root: string): Promise<string> {
  const mark = await markOf(join(root, "opencode.db"));
  if (mark === null) throw new Error("no database");
  return wayOf(mark);
}

/** A program that has the database open, adds a session when told, and is there until the test is over. */
async function writer(path: string): Promise<{ add(id: string): Promise<void>; kill(): Promise<void> }> {
  const child = spawn(process.execPath, ["--no-warnings", join(HERE, "writer.mjs"), path], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return {
    async add(id) {
      child.stdin.write(`${id}\n`);
      await once(child.stdout, "data");
    },
    async kill() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

describe("a database is read without a byte beside it changing", () => {
  test("when nothing waits in its log: the file alone", async () => {
    const { root, database } = await newDatabase();
    addSession(database, "ses_a", [{ prompt: "Hi", reply: "Ho" }]);
    database.close();
    expect(await wayIn(root)).toBe("immutable");
    expect([...(await readAll(root)).snapshots.keys()]).toEqual(["opencode:ses_a"]);
    expect(readdirSync(root)).toEqual(["opencode.db"]);
  });

  test("while its program runs, and after it was killed: in place, with rows that are only in the log", async () => {
    const { root, path, database } = await newDatabase();
    addSession(database, "ses_a", [{ prompt: "Hi", reply: "Ho" }]);
    database.close();
    const running = await writer(path);
    await running.add("ses_b");
    expect(await wayIn(root)).toBe("in-place");
    expect((await readAll(root)).snapshots.size).toBe(2);
    await running.add("ses_c");
    expect((await readAll(root)).snapshots.size).toBe(3);
    await running.kill();
    expect(await wayIn(root)).toBe("in-place");
    expect((await readAll(root)).snapshots.size).toBe(3);
  });

  test("when rows wait in a log without its index: a copy, which is gone afterwards", async () => {
    const { root, path, database } = await newDatabase();
    addSession(database, "ses_a", [{ prompt: "Hi", reply: "Ho" }]);
    const other = join(temporaryDirectory(), "opencode");
    mkdirSync(other);
    for (const end of ["", "-wal"]) cpSync(`${path}${end}`, join(other, `opencode.db${end}`));
    database.close();
    rmSync(root, { recursive: true });
    expect(await wayIn(other)).toBe("copy");
    const copies = (): string[] =>
      readdirSync(dirname(dirname(other))).filter((name) => name.startsWith("forktail-opencode-"));
    const before = copies();
    expect((await readAll(other)).snapshots.size).toBe(1);
    expect(copies()).toEqual(before);
  });

  test("a link, a FIFO's place and something that is no database are left alone and said", async () => {
    const { root, path, database } = await newDatabase();
    database.close();
    symlinkSync(path, join(root, "opencode-link.db"));
    writeFileSync(
      join(root, "opencode-bad.db"),
      "not a database, but long enough to be taken for the head of one ".repeat(20),
    );
    const seen = await readAll(root);
    expect(seen.problems).toMatchObject([{ kind: "unreadable-database", path: join(root, "opencode-bad.db") }]);
  });
});

describe("what is left alone is said, with a way out", () => {
  test("a link in a database's place, unless its target is read anyway", async () => {
    const { root, path, database } = await newDatabase();
    addSession(database, "ses_a", [{ prompt: "Hi", reply: "Ho" }]);
    database.close();
    symlinkSync(path, join(root, "opencode-link.db"));
    expect((await readAll(root)).problems).toEqual([]);
    const other = makeDirectory(temporaryDirectory(), "opencode");
    symlinkSync(path, join(other, "opencode.db"));
    const { problems, snapshots } = await readAll(other);
    expect([...snapshots.keys()]).toEqual([]);
    const message = expect.stringContaining(`a link, which is not followed: use --root opencode=${root}`);
    expect(problems).toMatchObject([{ kind: "not-regular", path: join(other, "opencode.db"), message }]);
    rmSync(path);
    const gone = expect.stringContaining("its target is gone");
    expect((await readAll(other)).problems).toMatchObject([{ message: gone }]);
  });

  test("a link to a database of another name", async () => {
    const elsewhere = temporaryDirectory();
    const { database } = await newDatabase(join(elsewhere, "mine.sqlite"));
    database.close();
    const root = makeDirectory(temporaryDirectory(), "opencode");
    symlinkSync(join(elsewhere, "mine.sqlite"), join(root, "opencode.db"));
    const message = expect.stringContaining(`use OPENCODE_DB=${join(elsewhere, "mine.sqlite")}`);
    expect((await readAll(root)).problems).toMatchObject([{ message }]);
  });

  test("a directory in a database's place", async () => {
    const root = makeDirectory(temporaryDirectory(), "opencode");
    makeDirectory(root, "opencode.db");
    expect((await readAll(root)).problems).toMatchObject([{ kind: "not-regular", path: join(root, "opencode.db") }]);
  });

  test("files of sessions that cannot be read; those beside them are", async () => {
    const root = makeDirectory(temporaryDirectory(), "opencode");
    const folder = makeDirectory(root, "storage/session/p");
    const session = (id: string) => JSON.stringify({ id, title: id, time: { created: 1, updated: 2 } });
    const outside = join(temporaryDirectory(), "ses_link.json");
    writeFileSync(outside, session("ses_link"));
    writeFileSync(join(folder, "ses_good.json"), session("ses_good"));
    writeFileSync(join(folder, "ses_bad.json"), '{"id":"ses_bad","ti');
    writeFileSync(join(folder, "ses_list.json"), "[1]");
    writeFileSync(join(folder, "ses odd.json"), session("ses odd"));
    writeFileSync(join(folder, "notes.txt"), "no session");
    symlinkSync(outside, join(folder, "ses_link.json"));
    makeDirectory(folder, "ses_folder.json");
    writeFileSync(join(makeDirectory(root, "storage/session/p q"), "ses_in.json"), session("ses_in"));
    const { problems, snapshots } = await readAll(root);
    expect([...snapshots.keys()]).toEqual(["opencode:ses_good"]);
    expect(problems.map((one) => [one.kind, one.path.slice(folder.length - 1)])).toEqual([
      ["bad-name", "p q"],
      ["bad-name", "p/ses odd.json"],
      ["torn", "p/ses_bad.json"],
      ["not-regular", "p/ses_folder.json"],
      ["not-regular", "p/ses_link.json"],
      ["torn", "p/ses_list.json"],
    ]);
  });
});

test("other warnings than SQLite's pass while it is loaded, and afterwards all do", async () => {
  const real = process.emitWarning;
  const said: string[] = [];
  const listen = (warning: string | Error): void => void said.push(String(warning));
  process.emitWarning = listen;
  try {
    await withoutSqliteNotice(async () => {
      process.emitWarning("SQLite is an experimental feature and might change at any time", "ExperimentalWarning");
      process.emitWarning("something else");
    });
    expect(process.emitWarning).toBe(listen);
  } finally {
    process.emitWarning = real;
  }
  expect(said).toEqual(["something else"]);
});

test("the notice that node's SQLite is experimental does not reach the terminal, other warnings do", async () => {
  const script = `
    import { loadSqlite } from ${JSON.stringify(join(HERE, "../../../src/sources/opencode/sqlite.ts"))};
    const { DatabaseSync } = await loadSqlite();
    new DatabaseSync(":memory:").close();
    process.emitWarning("and another");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const [code] = await once(child, "close");
  expect(code).toBe(0);
  expect(said).toContain("and another");
  expect(said).not.toMatch(/sqlite/iu);
});
