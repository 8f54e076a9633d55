import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BadConfig, loadConfig, parseConfig } from "../../src/memory/config.ts";
import { temporaryDirectory } from "../support/temp.ts";

describe("the config file", () => {
  test("every field, with comments and a trailing comma", () => {
    const text = `{
      // where the sessions are
      "$schema": "./schema.json",
      "roots": { "statefile": ["a", "/b"] },
      "theme": "contrast-dark",
      "ascii": true,
      "still": true,
      "poll": false,
      "resumeIn": "window",
      "keys": { "session.fork": ["F", "ctrl+f"] }, /* last */
    }`;
    expect(parseConfig(text, "config.json")).toEqual({
      $schema: "./schema.json",
      roots: { statefile: ["a", "/b"] },
      theme: "contrast-dark",
      ascii: true,
      still: true,
      poll: false,
      resumeIn: "window",
      keys: { "session.fork": ["F", "ctrl+f"] },
    });
  });

  test("no file is an empty config; an empty object too", () => {
    expect(loadConfig(join(temporaryDirectory(), "config.json"))).toEqual({});
    expect(parseConfig("{}", "c")).toEqual({});
  });

  test("relative roots are taken from the file's own folder", () => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, "config.json"), '{"roots": {"statefile": ["sessions", "/abs"]}}');
    expect(loadConfig(join(dir, "config.json")).roots).toEqual({ statefile: [join(dir, "sessions"), "/abs"] });
  });

  test.each([
    ["a syntax error", '{\n  "ascii": true\n  "still": true\n}', /^c\.json:3: /u],
    ["an unknown field", '{\n  "ascii": true,\n\n  "colour": "red"\n}', /^c\.json:4: colour: /u],
    ["a wrong type", '{\n  "ascii": "yes"\n}', /^c\.json:2: ascii: /u],
    ["an unknown theme", '{\n\n  "theme": "pink"\n}', /^c\.json:3: theme: .*dark/u],
    ["a wrong place", '{ "resumeIn": "tab" }', /^c\.json:1: resumeIn: /u],
    ["a root that is no list", '{\n "roots": {\n  "statefile": "a"\n }\n}', /^c\.json:3: roots\.statefile: /u],
    ["an empty list of roots", '{\n "roots": {\n  "statefile": []\n }\n}', /^c\.json:3: roots\.statefile: /u],
    [
      "a key that is no text",
      '{\n "keys": {\n  "session.fork": ["f",\n   7]\n }\n}',
      /^c\.json:4: keys\.session\.fork\.1: /u,
    ],
    ["not an object", "[]", /^c\.json:1: the file: /u],
    ["nothing at all", "", /^c\.json:1: /u],
  ])("%s is told with file and line", (_what, text, message) => {
    expect(() => parseConfig(text, "c.json")).toThrow(BadConfig);
    expect(() => parseConfig(text, "c.json")).toThrow(message);
  });

  test("one that cannot be read is told too", () => {
    const dir = join(temporaryDirectory(), "config.json");
    mkdirSync(dir);
    expect(() => loadConfig(dir)).toThrow(/config\.json: cannot be read/u);
  });
});
