import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { buildAll } from "../../scripts/build.mjs";
import { fixture } from "../support/fixtures.ts";
import { temporaryDirectory } from "../support/temp.ts";

describe("the built package", () => {
  let dist = "";
  beforeAll(async () => {
    dist = join(fixture("..", ".."), "dist");
    if (!existsSync(join(dist, "forktail.js"))) await buildAll();
  });

  test("runs as a program, by its shebang too", () => {
    const program = join(dist, "forktail.js");
    expect(readFileSync(program, "utf8").startsWith("#!/usr/bin/env node\n")).toBe(true);
    expect(statSync(program).mode & 0o111).toBe(0o111);
    expect(execFileSync(process.execPath, [program, "--version"], { encoding: "utf8" }).trim()).toMatch(
      /^\d+\.\d+\.\d+/u,
    );
  });

  test("a Node that is too old gets one clear line", () => {
    const program = join(dist, "forktail.js");
    const pretend = 'Object.defineProperty(process.versions, "node", { value: "20.11.0" })';
    const args = ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`, program, "list"];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr).toContain("20.11.0");
  });

  test("its package.json names only what is not bundled, and everything it exports is there", () => {
    const told = JSON.parse(readFileSync(join(dist, "package.json"), "utf8"));
    expect(Object.keys(told.dependencies)).toEqual(["clipboardy"]);
    expect(told).not.toHaveProperty("optionalDependencies");
    expect(told).not.toHaveProperty("private");
    const paths = Object.values<string | Record<string, string>>(told.exports)
      .flatMap((target) => (typeof target === "string" ? [target] : Object.values(target)))
      .concat(told.bin.forktail);
    for (const path of paths) expect(existsSync(join(dist, path)), path).toBe(true);
  });

  test.each(["statefile", "codebot", "herrscher", "questmaster"])("forktail/%s can be imported alone", async (name) => {
    const library: Record<string, unknown> = await import(pathToFileURL(join(dist, `${name}.js`)).href);
    expect(Object.keys(library).length).toBeGreaterThan(5);
  });

  test("holds no development build of React and no developer tools", () => {
    const code = readdirSync(dist)
      .filter((name) => name.endsWith(".js"))
      .map((name) => readFileSync(join(dist, name), "utf8"));
    expect(code.some((text) => text.includes("react-reconciler"))).toBe(true);
    for (const text of code) expect(text).not.toContain("react-devtools-core/backend");
    for (const text of code) expect(text).not.toMatch(/process\.env\.NODE_ENV\s*[!=]==/u);
  });

  test("a build takes away chunks of an earlier one", async () => {
    const outdir = temporaryDirectory();
    writeFileSync(join(outdir, "chunk-OLD.js"), "");
    const { files } = await buildAll({ outdir, types: false });
    expect(
      readdirSync(outdir)
        .filter((name) => name.endsWith(".js"))
        .sort(),
    ).toEqual([...files].sort());
  });
});
