import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseRootFlag, resolveRoots } from "../../src/sources/roots.ts";
import type { Source } from "../../src/sources/source.ts";
import { temporaryDirectory } from "../support/temp.ts";

const source = (name: string, ...places: string[]): Source => ({
  name,
  title: name,
  probes: [],
  defaultRoots: () => places,
  open: () => {
    throw new Error("not opened here");
  },
});

describe("--root", () => {
  const sources = [source("statefile"), source("codebot")];

  test("names a source and a directory, relative to where one is", () => {
    expect(parseRootFlag("statefile=a/b", sources, "/home/ada")).toEqual({
      source: "statefile",
      path: "/home/ada/a/b",
    });
    expect(parseRootFlag("codebot=/x=y", sources, "/")).toEqual({ source: "codebot", path: "/x=y" });
  });

  test.each([
    ["/somewhere", /say it as --root SOURCE=DIR/u],
    ["statefile=", /say it as --root SOURCE=DIR/u],
    ["=dir", /say it as/u],
    ["vim=dir", /there is no source vim; there are statefile, codebot/u],
  ])("%s is wrong, and the message says how", (text, message) => {
    expect(() => parseRootFlag(text, sources, "/")).toThrow(message);
  });
});

describe("the roots to read", () => {
  test("are the defaults that are there; flags replace those of their source only", () => {
    const dir = temporaryDirectory();
    const [here, there] = [join(dir, "here"), join(dir, "there")];
    mkdirSync(here);
    mkdirSync(there);
    const sources = [source("statefile", here, join(dir, "gone"), there, here), source("codebot", join(dir, "later"))];
    expect(resolveRoots(sources, [], {})).toEqual([
      { source: "statefile", index: 1, path: here, explicit: false },
      { source: "statefile", index: 2, path: there, explicit: false },
      { source: "codebot", index: 1, path: join(dir, "later"), explicit: false },
    ]);
    const flags = ["/a", "/b", "/a"].map((path) => ({ source: "statefile", path }));
    expect(resolveRoots(sources, flags, {})).toEqual([
      { source: "statefile", index: 1, path: "/a", explicit: true },
      { source: "statefile", index: 2, path: "/b", explicit: true },
      { source: "codebot", index: 1, path: join(dir, "later"), explicit: false },
    ]);
    expect(resolveRoots(sources, [{ source: "codebot", path: "/c" }], {}, true)).toEqual([
      { source: "codebot", index: 1, path: "/c", explicit: true },
    ]);
  });
});
