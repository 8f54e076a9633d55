import { readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BadConfig, loadConfig, parseConfig, THEMES } from "../../src/memory/config.ts";
import { configSchema } from "../../src/memory/config-schema.ts";
import { configSettings, LinesOf } from "../../src/memory/config-settings.ts";
import { THEME_NAMES } from "../../src/ui/theme.ts";
import { temporaryDirectory } from "../support/temp.ts";

const FILE = `{
  // how it looks
  "theme": "light",
  "notices": {
    "bell": false,
    "command": ["notify-phone", "--urgent"],
  },
  "roots": { "claude": ["near", "/far", "~/home"] },
  "keys": { "session.fork": ["F"] },
}`;

describe("the config file", () => {
  test("has comments and trailing commas, and roots from its own folder and the home directory", () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "config.json"), FILE);
    const config = loadConfig(join(directory, "config.json"));
    expect(config.notices).toEqual({ bell: false, command: ["notify-phone", "--urgent"] });
    expect(config.roots).toEqual({ claude: [join(directory, "near"), "/far", join(homedir(), "home")] });
  });

  test("may be missing", () => {
    expect(loadConfig(join(temporaryDirectory(), "config.json"))).toEqual({});
  });

  test.each([
    ["an unknown name", '{\n\n  "mouze": true\n}', "/c:3: mouze:"],
    ["an unknown name within", '{ "notices": {\n "sound": true } }', "/c:2: notices.sound:"],
    ["a wrong kind", '{\n  "mouse": "yes"\n}', "/c:2: mouse:"],
    ["an unknown word", '{ "notices": { "terminal": "osc99" } }', "/c:1: notices.terminal:"],
    ["a command without a program", '{ "notices": { "command": [] } }', "/c:1: notices.command:"],
    ["a command for a shell", '{ "notices": { "command": "echo $FORKTAIL_TEXT" } }', "/c:1: notices.command:"],
    ["a missing comma", '{\n "mouse": true\n "still": true }', "/c:3:"],
  ])("says line and name of %s", (_, text, message) => {
    expect(() => parseConfig(text, "/c")).toThrow(BadConfig);
    expect(() => parseConfig(text, "/c")).toThrow(message);
  });

  test("offers the themes that there are", () => {
    expect([...THEMES]).toEqual([...THEME_NAMES]);
  });
});

describe("the schema of the config file", () => {
  test("lies in assets as the shape says: else run node scripts/config-schema.mjs", () => {
    const kept: unknown = JSON.parse(readFileSync(new URL("../../assets/config.schema.json", import.meta.url), "utf8"));
    expect(kept).toEqual(configSchema());
  });

  test("describes every setting", () => {
    const undescribed: string[] = [];
    const walk = (schema: unknown, name: string): void => {
      const { description, properties } = schema as { description?: string; properties?: Record<string, unknown> };
      if (!description) undescribed.push(name);
      for (const [inner, value] of Object.entries(properties ?? {})) walk(value, `${name}.${inner}`);
    };
    walk(configSchema(), "config");
    expect(undescribed).toEqual([]);
  });
});

describe("each setting says where it comes from", () => {
  const settings = (overrides: { poll?: boolean; colourless: string | null }, text: string | null = FILE) =>
    Object.fromEntries(
      configSettings(text === null ? {} : parseConfig(text, "/c"), text, "/c", overrides).map(
        ({ name, value, from, where }) => [name, [value, from, where]],
      ),
    );

  test("the file, with its line", () => {
    expect(settings({ colourless: null })).toMatchObject({
      theme: ["light", "file", "/c:3"],
      "notices.bell": [false, "file", "/c:5"],
      "notices.command": [["notify-phone", "--urgent"], "file", "/c:6"],
      "keys.session.fork": [["F"], "file", "/c:9"],
    });
  });

  test("the defaults, every one of them", () => {
    expect(settings({ colourless: null }, null)).toEqual({
      theme: ["auto", "default", null],
      ascii: [undefined, "default", null],
      still: [false, "default", null],
      poll: [false, "default", null],
      mouse: [false, "default", null],
      resumeIn: [undefined, "default", null],
      "notices.bell": [true, "default", null],
      "notices.terminal": ["off", "default", null],
      "notices.desktop": [false, "default", null],
      "notices.command": [undefined, "default", null],
    });
  });

  test("flags and the environment, which win over the file", () => {
    expect(settings({ poll: true, colourless: "NO_COLOR" })).toMatchObject({
      theme: ["none", "environment", "NO_COLOR"],
      poll: [true, "flag", "--poll"],
    });
  });

  test("names that the file does not have lie nowhere", () => {
    const lines = new LinesOf(FILE, "/c");
    expect(lines.of(["roots", "claude"])).toBe("/c:8");
    expect(lines.of(["roots", "codex"])).toBeNull();
    expect(new LinesOf(null, "/c").of(["theme"])).toBeNull();
  });
});
