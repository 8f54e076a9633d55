import { readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SRC = fileURLToPath(new URL("../../src", import.meta.url));

/** Every module that loading this one loads: static imports only, types left out. */
function loads(path: string, found = new Set<string>()): Set<string> {
  const name = relative(SRC, path);
  if (found.has(name)) return found;
  found.add(name);
  const text = readFileSync(path, "utf8");
  for (const [, what = "", from = ""] of text.matchAll(/^(?:import|export)\s([^;]*?)\s?from "([^"]+)";/gmu)) {
    if (/^type\s/u.test(what)) continue;
    if (from.startsWith(".")) loads(resolve(dirname(path), from), found);
    else found.add(from);
  }
  return found;
}

test("forktail status loads no reader, no screen and no checking library: a status bar asks every few seconds", () => {
  const loaded = [...loads(resolve(SRC, "commands/status.ts"))];
  expect(loaded.filter((name) => !name.startsWith("node:")).sort()).toEqual([
    "commands/status.ts",
    "files/open.ts",
    "files/publish.ts",
    "memory/counts-file.ts",
    "memory/state-directory.ts",
    "probe/clock.ts",
    "session/counts.ts",
    "session/status.ts",
  ]);
  expect(loads(resolve(SRC, "commands/list.ts"))).toContain("sources/index.ts");
});
