import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { codexSource } from "../../../src/sources/codex/source.ts";
import { damagedLines } from "../../support/damaged-json.ts";
import { fixture } from "../../support/fixtures.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { readBackward, readForward } from "../../support/walk-pages.ts";

const home = join(fixture("codex", "home"), ".codex");
const texts = readdirSync(home, { recursive: true, encoding: "utf8" })
  .filter((name) => /rollout.*\.jsonl$/u.test(name))
  .map((name) => ({ name: basename(name), text: readFileSync(join(home, name), "utf8") }))
  .filter((one) => one.text !== "");

test("whatever is in the files, reading never throws, pages agree, and what lists show is clean", async () => {
  const root = temporaryDirectory();
  const folder = join(root, "sessions", "2026", "11", "18");
  await fc.assert(
    fc.asyncProperty(fc.tuple(...texts.map((one) => damagedLines(one.text))), async (damaged) => {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      for (const [i, one] of texts.entries()) writeFileSync(join(folder, one.name), damaged[i] ?? "");
      const { reader, seen } = await readSource(codexSource, [root], evidenceOf("2026-11-20T12:00:00.000Z"));
      for (const snapshot of seen.snapshots.values()) {
        const shown = [
          snapshot.title,
          snapshot.activity ?? "",
          ...snapshot.why,
          ...seen.problems.map((one) => one.message),
        ];
        expect(shown.join("")).not.toMatch(/[\u0000-\u001f\u202e]/u);
        expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
        const transcript = await reader.transcript(snapshot.key);
        for (const view of ["timeline", "context"] as const) {
          const forward = await readForward(transcript, { view, textLimit: 50 }, 7);
          expect(await readBackward(transcript, { view, textLimit: 50 }, 7)).toEqual(forward);
          for (const entry of forward.filter((one) => one.forkable)) {
            expect(await reader.fork?.plan(snapshot.key, entry.ref)).toMatchObject({ allowed: true });
          }
        }
        for (const view of reader.views(snapshot.key).filter((one) => one !== "timeline" && one !== "context")) {
          await reader.document(snapshot.key, view);
        }
      }
    }),
    { numRuns: 20 },
  );
});
