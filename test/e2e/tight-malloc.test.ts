import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ptyWith } from "../support/pty.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { program } from "./program.ts";

/** Starts the screen, looks at the environment that the program was given and the one that it gives on, and quits. */
async function environments({ argv, env }: Pick<ReturnType<typeof program>, "argv" | "env">) {
  const written = join(temporaryDirectory(), "env.json");
  const tell = join(temporaryDirectory(), "tell.mjs");
  const write = `writeFileSync(${JSON.stringify(written)}, JSON.stringify(process.env))`;
  writeFileSync(tell, `import { writeFileSync } from "node:fs";\nprocess.on("exit", () => ${write});\n`);
  const pty = ptyWith(argv, { cols: 80, rows: 24, env: { ...env, NODE_OPTIONS: `--import=${tell}` } });
  await pty.see("Reindex the archive");
  const given = readFileSync(`/proc/${pty.process.pid}/environ`, "utf8").split("\0");
  pty.press("q");
  expect(await pty.ending).toEqual({ code: 0, signal: 0 });
  const passedOn: Record<string, string> = JSON.parse(readFileSync(written, "utf8"));
  return { given: given.filter((line) => line.startsWith("MALLOC_")), passedOn: Object.keys(passedOn) };
}

test.runIf(process.platform === "linux")("only a first start sets malloc, for itself alone", async () => {
  const made = program();
  const first = await environments(made);
  expect(first.given).toHaveLength(2);
  expect(first.passedOn.filter((name) => /MALLOC/u.test(name))).toEqual([]);

  const later = await environments(made);
  expect(later.given).toEqual([]);
});

test.runIf(process.platform === "linux")("malloc settings of the person's stay", async () => {
  const made = program();
  const { given, passedOn } = await environments({ ...made, env: { ...made.env, MALLOC_ARENA_MAX: "2" } });
  expect(given).toEqual(["MALLOC_ARENA_MAX=2"]);
  expect(passedOn).toContain("MALLOC_ARENA_MAX");
});
