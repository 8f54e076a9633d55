import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { AlreadyExists, publishNew, rangeOf, replaceFile } from "../../src/files/publish.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { until } from "../support/until.ts";

const bytes = (text: string): Uint8Array[] => [...text].map((letter) => Buffer.from(letter));

describe("a new file", () => {
  test("is there whole, with its mode, and nothing beside it", async () => {
    const dir = temporaryDirectory();
    await publishNew(join(dir, "a.state"), bytes("hello"), { mode: 0o600 });
    expect(readdirSync(dir)).toEqual(["a.state"]);
    expect(readFileSync(join(dir, "a.state"), "utf8")).toBe("hello");
    expect(statSync(join(dir, "a.state")).mode & 0o777).toBe(0o600);
  });

  test("never replaces one that is there", async () => {
    const dir = temporaryDirectory();
    const path = join(dir, "a.state");
    writeFileSync(path, "theirs");
    const before = statSync(path);
    await expect(publishNew(path, bytes("ours"))).rejects.toThrow(AlreadyExists);
    expect(readFileSync(path, "utf8")).toBe("theirs");
    expect(statSync(path).mtimeMs).toBe(before.mtimeMs);
    expect(readdirSync(dir)).toEqual(["a.state"]);
  });

  test("of two that want the same name, one wins and the other is told", async () => {
    const dir = temporaryDirectory();
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, at) => publishNew(join(dir, "a.state"), bytes(`writer ${at}`))),
    );
    expect(results.filter((one) => one.status === "fulfilled")).toHaveLength(1);
    expect(readdirSync(dir)).toEqual(["a.state"]);
    const winner = results.findIndex((one) => one.status === "fulfilled");
    expect(readFileSync(join(dir, "a.state"), "utf8")).toBe(`writer ${winner}`);
  });

  test("is nowhere when its bytes cannot be had", async () => {
    const dir = temporaryDirectory();
    const failing = (function* () {
      yield Buffer.from("half");
      throw new Error("no more");
    })();
    await expect(publishNew(join(dir, "a.state"), failing)).rejects.toThrow("no more");
    expect(readdirSync(dir)).toEqual([]);
  });

  test("is verified under its temporary name, and is nowhere when that fails", async () => {
    const dir = temporaryDirectory();
    const path = join(dir, "a.state");
    const looked: string[] = [];
    const verify = (temporary: string): void => {
      looked.push(readFileSync(temporary, "utf8"), ...readdirSync(dir));
      throw new Error("not what it should be");
    };
    await expect(publishNew(path, bytes("hello"), { verify })).rejects.toThrow("not what it should be");
    expect(looked[0]).toBe("hello");
    expect(looked.slice(1)).toEqual([expect.stringMatching(/^\.a\.state\.[0-9a-f]{12}\.tmp$/u)]);
    expect(readdirSync(dir)).toEqual([]);
  });

  test.each(["writing", "verifying"])("kill -9 while %s leaves no file of that name", async (moment) => {
    const dir = temporaryDirectory();
    const module = new URL("../../src/files/publish.ts", import.meta.url).href;
    const script = `
      const { publishNew } = await import(${JSON.stringify(module)});
      const forever = () => new Promise((resolve) => setTimeout(resolve, 60_000));
      const chunks = (async function* () {
        yield Buffer.alloc(1024 * 1024, "x");
        if (process.argv[2] === "writing") { process.stdout.write("now"); await forever(); }
      })();
      const verify = async () => { process.stdout.write("now"); await forever(); };
      await publishNew(process.argv[1], chunks, { verify });
    `;
    const path = join(dir, "0badcafe.state");
    const child = spawn(process.execPath, ["--input-type=module", "-e", script, path, moment], {
      cwd: fileURLToPath(new URL("../..", import.meta.url)),
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "exit");
    const left = readdirSync(dir);
    // A dot-file may stay: it has no session's name.
    expect(left.filter((name) => !/^\.0badcafe\.state\.[0-9a-f]{12}\.tmp$/u.test(name))).toEqual([]);
    await publishNew(path, bytes("made at the second try"));
    expect(readFileSync(path, "utf8")).toBe("made at the second try");
  });
});

describe("a file of our own", () => {
  test("is replaced as a whole: a reader sees the old or the new", async () => {
    const dir = temporaryDirectory();
    const path = join(dir, "memory");
    const contents = ["a".repeat(200_000), "b".repeat(300_000)];
    writeFileSync(path, contents[0] ?? "");
    let stop = false;
    const writing = (async () => {
      for (let round = 0; round < 20; round += 1) await replaceFile(path, contents[round % 2] ?? "");
      stop = true;
    })();
    await until(
      () => {
        expect(contents).toContain(readFileSync(path, "utf8"));
        return stop;
      },
      Boolean,
      15_000,
    );
    await writing;
    expect(readdirSync(dir)).toEqual(["memory"]);
  });

  test("that cannot be replaced stays, and nothing is left beside it", async () => {
    const dir = temporaryDirectory();
    await expect(replaceFile(join(dir, "no", "such", "folder"), "x")).rejects.toThrow();
    await expect(replaceFile(dir, "x", { temporary: join(dir, "tmp") })).rejects.toThrow();
    expect(readdirSync(dir)).toEqual([]);
  });
});

test("a range of an open file is exactly its bytes, and a file that became shorter is an error", async () => {
  const path = join(temporaryDirectory(), "file");
  writeFileSync(path, Buffer.alloc(3 * 1024 * 1024, "0123456789"));
  const file = await open(path, "r");
  try {
    const got: Buffer[] = [];
    for await (const piece of rangeOf(file, 7, 2 * 1024 * 1024 + 9)) got.push(Buffer.from(piece));
    expect(Buffer.concat(got).equals(readFileSync(path).subarray(7, 2 * 1024 * 1024 + 9))).toBe(true);
    const past = (async () => {
      for await (const piece of rangeOf(file, 0, 4 * 1024 * 1024)) void piece;
    })();
    await expect(past).rejects.toThrow("became shorter");
  } finally {
    await file.close();
  }
});
