import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/temp.ts";
import { until } from "../support/until.ts";
import { CommandLine } from "./cli.ts";

interface Line {
  source?: string;
  problems?: { path: string; kind: string }[];
  session?: { id: string };
  scanned?: boolean;
}

test("watch tells of problems, and that they are gone; it says nothing of sources that have none", async () => {
  const root = temporaryDirectory();
  const lines: Line[] = [];
  let rest = "";
  const child = new CommandLine(temporaryDirectory()).start("watch", "--json", "--root", `questmaster=${root}`);
  child.stdout?.on("data", (data) => {
    const parts = (rest + String(data)).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) lines.push(JSON.parse(part));
  });
  const told = () => lines.flatMap((one) => (one.problems ? [[one.source, one.problems.map(({ kind }) => kind)]] : []));
  await until(() => lines.some((one) => one.scanned === true));
  expect(told()).toEqual([]);
  const path = join(root, "qm-bad.id.json");
  // What is written before the watcher looks is no change to it.
  await until(
    () => {
      writeFileSync(path, "{}");
      return told();
    },
    (seen) => seen.length > 0,
  );
  expect(told()).toEqual([["questmaster", ["bad-id"]]]);
  writeFileSync(join(root, "qm-1.json"), "{}");
  await until(() => lines.some((one) => one.session?.id === "qm-1"));
  rmSync(path);
  await until(() => told().length > 1);
  expect(told()[1]).toEqual(["questmaster", []]);
});
