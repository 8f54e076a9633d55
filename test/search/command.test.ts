import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { fixture } from "../support/fixtures.ts";
import { temporaryDirectory } from "../support/temp.ts";

const PROGRAM = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "src", "cli.ts");

function forktail(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const home = temporaryDirectory();
  const env = { PATH: process.env.PATH, HOME: home, FORKTAIL_STATE_DIR: join(home, "state") };
  const root = `statefile=${fixture("statefile", "sessions")}`;
  return spawnSync(process.execPath, [PROGRAM, "--root", root, ...args], { env, encoding: "utf8" });
}

describe("forktail search", () => {
  it("prints key, number, kind and snippet of every hit, and says by its exit code whether there was one", () => {
    const some = forktail("search", "the", "--limit", "5");
    expect(some.status).toBe(0);
    expect(some.stdout.trim().split("\n")).toHaveLength(5);
    for (const line of some.stdout.trim().split("\n"))
      expect(line).toMatch(/^statefile:\S+ {2}\d+ {2}[a-z]+ {2}.*the/iu);
    expect(some.stderr).toContain("--limit 50 shows more");
    expect(forktail("search", "quetzalcoatlus")).toMatchObject({ status: 1, stdout: "", stderr: "" });
    expect(forktail("search", " ").status).toBe(2);
    expect(forktail("search", "the", "--limit", "0").status).toBe(2);
  });

  it("prints one JSON line a hit, and how it ended", () => {
    const { stdout } = forktail("search", "the", "--limit", "2", "--json");
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.type)).toEqual(["hit", "hit", "progress"]);
    expect(lines[2]).toMatchObject({ done: true, more: true, hits: 2 });
  });
});

describe("forktail export", () => {
  it("writes a session in the format that the file's name asks for, and prints it without a file", () => {
    const key = forktail("search", "the", "--limit", "1").stdout.split(" ")[0] ?? "";
    const path = join(temporaryDirectory(), "session.html");
    const written = forktail("export", key, "--output", path);
    expect(written).toMatchObject({ status: 0, stderr: "" });
    expect(readFileSync(path, "utf8")).toMatch(/^<!doctype html>/u);
    expect(forktail("export", key, "--output", path)).toMatchObject({ status: 1 });
    expect(forktail("export", key).stdout).toMatch(/^# /u);
    expect(forktail("export", key, "--json").stdout).toBe(forktail("show", key, "--json").stdout);
  });
});
