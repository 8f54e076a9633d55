import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { CannotLock, takeFlock, withFlock } from "../../src/files/flock.ts";
import { temporaryDirectory } from "../support/temp.ts";

/** A real flock(1) process that holds the lock until its standard input is closed. */
async function otherHolder(lock: string): Promise<ChildProcess> {
  const child = spawn("flock", ["-x", lock, "cat"], { stdio: ["pipe", "pipe", "ignore"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin?.write("!");
  await new Promise<void>((resolve) => child.stdout?.once("data", () => resolve()));
  return child;
}

/** Whether a flock(1) that does not wait gets the lock: what any other program would see. */
function freeForOthers(lock: string): boolean {
  return spawnSync("flock", ["-x", "-n", lock, "true"]).status === 0;
}

/** A PATH on which only these programs are found. */
function pathWith(...programs: string[]): NodeJS.ProcessEnv {
  const bin = join(temporaryDirectory(), "bin");
  mkdirSync(bin);
  for (const program of programs) {
    const real = spawnSync("sh", ["-c", 'command -v "$1"', "sh", program], { encoding: "utf8" }).stdout.trim();
    symlinkSync(real, join(bin, program));
  }
  return { PATH: bin };
}

async function failure(work: Promise<unknown>): Promise<CannotLock> {
  try {
    await work;
  } catch (error) {
    if (error instanceof CannotLock) return error;
    throw error;
  }
  throw new Error("the lock was taken");
}

describe.each([
  ["flock(1)", ["flock"]],
  ["perl", ["perl"]],
])("a lock through %s", (_name, programs) => {
  it("waits for another process that holds it", async () => {
    const lock = join(temporaryDirectory(), "state.json.lock");
    const holder = await otherHolder(lock);
    const order: string[] = [];
    const taken = takeFlock(lock, { env: pathWith(...programs) }).then((held) => {
      order.push("ours");
      return held;
    });
    await new Promise((resolve) => setTimeout(resolve, 120));
    order.push("released by the other");
    holder.stdin?.end();
    using held = await taken;
    expect(order).toEqual(["released by the other", "ours"]);
    expect(freeForOthers(lock)).toBe(false);
    held.release();
    expect(freeForOthers(lock)).toBe(true);
  });

  it("keeps other processes out until it is released", async () => {
    const lock = join(temporaryDirectory(), "state.json.lock");
    const held = await takeFlock(lock, { env: pathWith(...programs) });
    expect(freeForOthers(lock)).toBe(false);
    held.release();
    held.release();
    expect(freeForOthers(lock)).toBe(true);
  });

  it("gives up after the longest wait, and leaves the holder alone", async () => {
    const lock = join(temporaryDirectory(), "state.json.lock");
    const holder = await otherHolder(lock);
    const error = await failure(takeFlock(lock, { waitMs: 60, env: pathWith(...programs) }));
    expect(error.kind).toBe("busy");
    expect(freeForOthers(lock)).toBe(false);
    holder.stdin?.end();
    await new Promise((resolve) => holder.once("exit", resolve));
    expect(freeForOthers(lock)).toBe(true);
  });
});

describe("a lock", () => {
  it("excludes two holders in the same process", async () => {
    const lock = join(temporaryDirectory(), "l");
    let inside = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 6 }, () =>
        withFlock(lock, async () => {
          inside += 1;
          most = Math.max(most, inside);
          await new Promise((resolve) => setTimeout(resolve, 5));
          inside -= 1;
        }),
      ),
    );
    expect(most).toBe(1);
  });

  it("cannot be had where there is neither flock nor perl, and the work is not done", async () => {
    const lock = join(temporaryDirectory(), "l");
    let done = false;
    const work = (): void => {
      done = true;
    };
    const error = await failure(withFlock(lock, work, { env: pathWith() }));
    expect(error.kind).toBe("unavailable");
    expect(error.message).toMatch(/install/u);
    expect(done).toBe(false);
  });

  it("falls back to perl when flock(1) is not the one we know", async () => {
    const env = pathWith("perl");
    writeFileSync(join(env.PATH ?? "", "flock"), "#!/bin/sh\nexit 64\n", { mode: 0o755 });
    const lock = join(temporaryDirectory(), "l");
    using _held = await takeFlock(lock, { env });
    expect(freeForOthers(lock)).toBe(false);
  });

  it("is given back when the work throws", async () => {
    const lock = join(temporaryDirectory(), "l");
    await expect(withFlock(lock, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(freeForOthers(lock)).toBe(true);
  });

  it("is an empty file of mode 0644 that keeps what it holds", async () => {
    const lock = join(temporaryDirectory(), "l");
    (await takeFlock(lock)).release();
    expect(statSync(lock).size).toBe(0);
    expect(statSync(lock).mode & 0o777).toBe(0o644 & ~process.umask());
    writeFileSync(lock, "kept");
    (await takeFlock(lock)).release();
    expect(readFileSync(lock, "utf8")).toBe("kept");
  });

  it.each([
    ["a symbolic link", (path: string, elsewhere: string) => symlinkSync(elsewhere, path)],
    ["a directory", (path: string) => mkdirSync(path)],
    ["a FIFO", (path: string) => void spawnSync("mkfifo", [path])],
    ["in a directory that is not there", () => undefined],
  ])("is refused when its file is %s", async (name, make) => {
    const directory = temporaryDirectory();
    const elsewhere = join(directory, "elsewhere");
    const lock = name.startsWith("in a") ? join(directory, "none", "l") : join(directory, "l");
    make(lock, elsewhere);
    expect((await failure(takeFlock(lock))).kind).toBe("refused");
    expect(existsSync(elsewhere)).toBe(false);
  });
});
