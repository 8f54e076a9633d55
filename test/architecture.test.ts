import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { THEMES } from "../src/memory/config.ts";
import { FOLDS } from "../src/sources/folds.ts";
import { SOURCES } from "../src/sources/index.ts";
import { KEYMAP, keymapOf } from "../src/ui/keymap.ts";
import { THEME_NAMES } from "../src/ui/theme.ts";
import { VERSION } from "../src/version.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SRC = join(ROOT, "src");

const FILES = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((path) => /\.tsx?$/u.test(path));

interface Import {
  from: string;
  to: string;
}

/** Every import of one of our files by another, as paths below src. */
const IMPORTS: Import[] = FILES.flatMap((from) => {
  const text = readFileSync(join(SRC, from), "utf8");
  return [...text.matchAll(/\bfrom "(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/gu)].flatMap(([, fixed, lazy]) => {
    const to = relative(SRC, join(SRC, dirname(from), fixed ?? lazy ?? ""));
    return to.startsWith("..") ? [] : [{ from, to }];
  });
});

const area = (path: string): string => (path.includes("/") ? (path.split("/")[0] ?? "") : "the program");

/** Who may import whom (`ui` and `commands` stand side by side at the top): the direction of the whole program. */
const MAY: Record<string, readonly string[]> = {
  "the program": ["commands", "the program", "session"],
  ui: [
    "commands",
    "export",
    "search",
    "store",
    "live",
    "watch",
    "actions",
    "sources",
    "memory",
    "probe",
    "files",
    "usage",
    "session",
  ],
  commands: [
    ...[
      "ui",
      "export",
      "search",
      "store",
      "live",
      "watch",
      "actions",
      "demo",
      "sources",
      "memory",
      "probe",
      "files",
      "usage",
    ],
    ...["session", "the program"],
  ],
  export: ["sources", "files", "usage", "session"],
  search: ["sources", "probe", "files", "session"],
  demo: ["sources", "files", "probe", "session", "usage"],
  store: ["live", "watch", "actions", "sources", "memory", "probe", "usage", "session"],
  actions: ["live", "watch", "sources", "memory", "probe", "files", "usage", "session"],
  live: ["watch", "sources", "memory", "probe", "files", "usage", "session"],
  sources: ["probe", "memory", "files", "usage", "session"],
  watch: ["files", "session"],
  memory: ["files", "session"],
  probe: ["files", "session"],
  usage: ["session"],
  files: ["session"],
  session: [],
};

describe("the shape of the program", () => {
  test("every folder has its place in the order", () => {
    expect(Object.keys(MAY).sort()).toEqual([...new Set(FILES.map(area))].sort());
  });

  test("imports run one way", () => {
    const wrong = IMPORTS.filter(({ from, to }) => {
      const [a, b] = [area(from), area(to)];
      return a !== b && !(MAY[a] ?? []).includes(b);
    });
    expect(wrong).toEqual([]);
  });

  test("no tool's folder knows another tool, but for what it shares by name", () => {
    const tool = (path: string): string | null => /^sources\/([^/]+)\//u.exec(path)?.[1] ?? null;
    const tools = new Set(SOURCES.map((source) => source.name));
    const wrong = IMPORTS.filter(({ from, to }) => {
      const [a, b] = [tool(from), tool(to)];
      return a !== null && b !== null && a !== b && tools.has(a) && tools.has(b);
    });
    expect(wrong).toEqual([]);
  });

  test("only the screen knows React, and only the watcher chokidar", () => {
    const outside = (library: RegExp, ...areas: string[]): string[] =>
      FILES.filter((path) => !areas.includes(area(path))).filter((path) =>
        library.test(readFileSync(join(SRC, path), "utf8")),
      );
    expect(outside(/from "(?:react|ink)"/u, "ui")).toEqual([]);
    expect(outside(/from "chokidar"/u, "watch")).toEqual([]);
    expect(outside(/from "zustand/u, "store", "ui")).toEqual([]);
  });

  test("no file or folder is named for everything and nothing", () => {
    const everything = ["src", "test", "scripts"].flatMap((top) =>
      readdirSync(join(ROOT, top), { recursive: true, encoding: "utf8" }).filter(
        (path) => !path.startsWith("fixtures/"),
      ),
    );
    const bad = everything.filter((path) =>
      /^(utils?|helpers?|common|misc|managers?|shared|lib)$|[-.](utils?|helpers?|manager)$/iu.test(
        basename(path).replace(/(\.test)?\.[a-z]+$/u, ""),
      ),
    );
    expect(bad).toEqual([]);
  });

  test("no line switches a check off, hides a question or puts something off", () => {
    const wrong = FILES.flatMap((path) =>
      readFileSync(join(SRC, path), "utf8")
        .split("\n")
        .flatMap((line, at) =>
          /@ts-(ignore|expect-error|nocheck)|biome-ignore|\b(TODO|FIXME|XXX)\b|\bas any(?=\s*[;,).\]]|$)|: any(?=\s*[;,)=|&>\]{]|$)|<any>|\bany\[\]/u.test(
            line,
          )
            ? [`${path}:${at + 1}: ${line.trim()}`]
            : [],
        ),
    );
    expect(wrong).toEqual([]);
  });
});

describe("one table of each thing", () => {
  test("the version is the package's", () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
    expect(VERSION).toBe(version);
  });

  test("the config's themes are the screen's", () => {
    expect([...THEMES].sort()).toEqual([...THEME_NAMES].sort());
  });

  test("actions have unique names, and a key does one thing in one place", () => {
    const ids = KEYMAP.map((command) => command.id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
    const bound = KEYMAP.flatMap((command) =>
      command.where.flatMap((place) => command.keys.map((key) => `${key} in ${place}`)),
    );
    expect(bound.filter((one, at) => bound.indexOf(one) !== at)).toEqual([]);
    for (const command of KEYMAP) {
      expect(command.id).toMatch(/^[a-z]+\.[a-z-]+$/u);
      expect([command.title, command.help].every((text) => text !== "")).toBe(true);
    }
  });

  test("has the keys of the design", () => {
    const keys = new Set(KEYMAP.flatMap((command) => command.keys));
    const asked = ["j", "k", "up", "down", "g", "G", "ctrl+d", "ctrl+u", "enter", "esc", "tab", "/", "n", "N", "!"];
    for (const key of [...asked, ..."rfvuyopstFw:?q"]) expect(keys, key).toContain(key);
  });

  test("the config replaces keys by the action's name, and says which names there are not", () => {
    const { keymap, problems } = keymapOf({ "session.fork": ["B"], "session.fly": ["x"] });
    expect(keymap.find((command) => command.id === "session.fork")?.keys).toEqual(["B"]);
    expect(keymap).toHaveLength(KEYMAP.length);
    expect(problems).toEqual(["config: keys: there is no action session.fly"]);
  });

  test("every fold stands in the table by which reading threads find it", () => {
    const declared = FILES.filter((path) => path.startsWith("sources/")).flatMap((path) =>
      [...readFileSync(join(SRC, path), "utf8").matchAll(/export const (\w+): FileFold</gu)].map(([, name]) => name),
    );
    const table = readFileSync(join(SRC, "sources/folds.ts"), "utf8").split("FOLDS")[1] ?? "";
    expect([...table.matchAll(/^ {2}(\w+),$/gmu)].map(([, name]) => name).sort()).toEqual(declared.sort());
    expect(new Set(FOLDS.map((fold) => fold.name)).size).toBe(FOLDS.length);
  });

  test("sources have unique names, each of which can be the first part of a key", () => {
    const names = SOURCES.map((source) => source.name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z][a-z0-9-]*$/u);
  });
});
