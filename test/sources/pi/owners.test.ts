import { appendFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { LocalFoldedFiles } from "../../../src/files/folded-files.ts";
import { piFold } from "../../../src/sources/pi/fold.ts";
import { PiSessions } from "../../../src/sources/pi/sessions.ts";
import { piSource } from "../../../src/sources/pi/source.ts";
import { evidenceOf, readSource } from "../../support/read-source.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { header, lines, reply, user, write } from "./pi-file.ts";

const evidence = evidenceOf("2026-11-20T12:00:00.000Z");
const project = "--home-dana-code-pot--";
const stem = (id: string): string => `2026-11-20T09-00-00-000Z_${id}`;
const said = [user("u1", null, "Brew"), reply("a1", "u1")];
const later = (minute: number): string => `2026-11-20T10:0${minute}:00.000Z`;

/** A sessions directory with these files, by their place below it. */
function tree(files: Record<string, Record<string, unknown>[]>): string {
  const root = join(temporaryDirectory(), "sessions");
  for (const [place, entries] of Object.entries(files)) write(join(root, place), entries);
  return root;
}

const named = (id: string): string => `${project}/${stem(id)}.jsonl`;

/** A copy of what was said, with a reply of its own. */
function copy(id: string, minute: number, parentSession?: string): Record<string, unknown>[] {
  const head = header(id, { timestamp: later(minute), ...(parentSession === undefined ? {} : { parentSession }) });
  const own = { timestamp: later(minute) };
  return [head, ...said, { ...user(`u-${id}`, "a1", "More"), ...own }, { ...reply(`a-${id}`, `u-${id}`), ...own }];
}

describe("copied history is counted once", () => {
  test.each<[string, Record<string, Record<string, unknown>[]>, Record<string, number>]>([
    [
      "where a session of the chain is gone",
      { [named("s1")]: [header("s1"), ...said], [named("s3")]: copy("s3", 1, `/x/${stem("s2")}.jsonl`) },
      { s1: 1, s3: 1 },
    ],
    [
      "where a copy does not say of what",
      { [named("s1")]: [header("s1"), ...said], [named("s2")]: copy("s2", 1) },
      { s1: 1, s2: 1 },
    ],
    [
      "where the session that two are copies of is gone, and its name says no id",
      {
        [named("s1")]: copy("s1", 2, "/x/run-0/session.jsonl"),
        [named("s2")]: copy("s2", 1, "/x/run-0/session.jsonl"),
      },
      { s1: 1, s2: 2 },
    ],
    [
      "where a copy says it began before what it is a copy of",
      {
        [named("s1")]: [header("s1", { timestamp: later(9) }), ...said],
        [named("s2")]: copy("s2", 1, `/x/${stem("s1")}.jsonl`),
      },
      { s1: 1, s2: 1 },
    ],
    [
      "where two say that each is the other's copy",
      {
        [named("s1")]: copy("s1", 2, `/x/${stem("s2")}.jsonl`),
        [named("s2")]: copy("s2", 1, `/x/${stem("s1")}.jsonl`),
      },
      { s1: 1, s2: 2 },
    ],
  ])("%s", async (_, files, own) => {
    const { seen } = await readSource(piSource, [tree(files)], evidence);
    const found = [...seen.snapshots.values()].map((one) => [one.id, one.own?.requests]);
    expect(Object.fromEntries(found)).toEqual(own);
  });

  test("while originals come and go, as if they had been so from the start", async () => {
    const root = tree({ [named("s2")]: copy("s2", 1, `/x/${stem("s1")}.jsonl`), [named("s3")]: copy("s3", 2) });
    const { reader, seen } = await readSource(piSource, [root], evidence);
    const own = () => ["s1", "s2", "s3"].map((id) => seen.snapshots.get(`pi:${id}`)?.own?.requests);
    expect(own()).toEqual([undefined, 2, 1]);
    const first = write(join(root, named("s1")), [header("s1"), ...said]);
    seen.take(await reader.apply([first], evidence));
    expect(own()).toEqual([1, 1, 1]);
    rmSync(first);
    seen.take(await reader.apply([first], evidence));
    expect(own()).toEqual([undefined, 2, 1]);
  });

  test("an append concerns its session alone, however many copies there are", async () => {
    const copies = Array.from({ length: 9 }, (_, i) => named(`c${i}`));
    const path = tree(Object.fromEntries(copies.map((place, i) => [place, copy(`c${i}`, i)])));
    const root = { source: "pi", index: 1, path, explicit: true };
    const files = new LocalFoldedFiles();
    const sessions = new PiSessions();
    const take = async (place: string) => {
      const read = await files.advance(piFold, join(path, place));
      return read.ok ? [...sessions.take(root, read.folded)] : [];
    };
    const [one = "", ...others] = copies;
    expect(await take(one)).toEqual(["c0"]);
    for (const place of others) expect(await take(place)).toContain("c0");
    expect(sessions.wasRearranged()).toBe(true);
    appendFileSync(join(path, one), lines([user("n1", "a-c0", "Again"), reply("n2", "n1")], later(5)));
    expect(await take(one)).toEqual(["c0"]);
    expect(sessions.wasRearranged()).toBe(false);
  });
});

describe("what a session was copied from", () => {
  const run = (of: string, name: string): string => `${project}/${stem(of)}/${name}/run-0/session.jsonl`;
  const moved = "/home/dana/.pi/agent/sessions";
  const runs = { [run("s1", "r1")]: [header("k1")], [run("s1", "r2")]: [header("k2")] };
  test.each<[string, Record<string, Record<string, unknown>[]>, string, string | null]>([
    ["is the file whose path ends most like it", runs, `${moved}/${run("s1", "r2")}`, "k2"],
    ["is in a project that was moved too", runs, `${moved}/--old--/${stem("s1")}/r1/run-0/session.jsonl`, "k1"],
    ["is nobody whose file has but the same name", runs, "/x/session.jsonl", null],
    ["is nobody whose place says nothing of it", runs, "/x/r1/run-0/session.jsonl", null],
    [
      "is nobody when it may be one of two",
      { [`--a--/${stem("s1")}/r/run-0/session.jsonl`]: [header("k1")], [run("s1", "r")]: [header("k2")] },
      `${moved}/--old--/${stem("s1")}/r/run-0/session.jsonl`,
      null,
    ],
    [
      "is the id in its name when the file has another",
      { [`${project}/work.jsonl`]: [header("k1")] },
      `/x/${stem("k1")}.jsonl`,
      "k1",
    ],
  ])("%s", async (_, files, parentSession, origin) => {
    const root = tree({ ...files, [named("s9")]: copy("s9", 1, parentSession) });
    const { seen } = await readSource(piSource, [root], evidence);
    expect(seen.byId("s9").parent).toEqual(origin === null ? null : { key: `pi:${origin}`, relation: "fork" });
  });

  test("is told anew when it goes, and when its place is taken", async () => {
    const path = `${moved}/${run("s1", "r2")}`;
    const root = tree({ ...runs, [named("s9")]: copy("s9", 1, path) });
    const { reader, seen } = await readSource(piSource, [root], evidence);
    rmSync(join(root, run("s1", "r2")));
    seen.take(await reader.apply([join(root, run("s1", "r2"))], evidence));
    expect(seen.byId("s9").parent).toBeNull();
    write(join(root, run("s1", "r2")), [header("k3")]);
    seen.take(await reader.apply([join(root, run("s1", "r2"))], evidence));
    expect(seen.byId("s9").parent?.key).toBe("pi:k3");
  });

  test("is told anew of a session below the folders of two when the nearer one goes", async () => {
    const inner = `${project}/${stem("s1")}/r1/${stem("s2")}`;
    const root = tree({
      [named("s1")]: [header("s1"), ...said],
      [`${inner}.jsonl`]: [header("s2")],
      [`${inner}/run-0/session.jsonl`]: [header("k1")],
    });
    const { reader, seen } = await readSource(piSource, [root], evidence);
    expect(seen.byId("k1").parent?.key).toBe("pi:s2");
    rmSync(join(root, `${inner}.jsonl`));
    seen.take(await reader.apply([join(root, `${inner}.jsonl`)], evidence));
    expect(seen.byId("k1").parent?.key).toBe("pi:s1");
  });
});

describe("a fork of a sub-agent's session", () => {
  test.each([
    ["goes where sessions of the project are", `${project}/${stem("s1")}/r/run-0/session.jsonl`, project],
    ["goes there when the session that started it is gone", `${project}/${stem("s2")}/r/run-0/session.jsonl`, project],
    ["goes into a flat directory where it is one", `${stem("s2")}/r/run-0/session.jsonl`, "."],
  ])("%s", async (_, place, directory) => {
    const root = tree({ [named("s1")]: [header("s1"), ...said], [place]: [header("k1"), ...said] });
    const { reader } = await readSource(piSource, [root], evidence);
    const plan = await reader.fork?.plan("pi:k1", null);
    const made = await reader.fork?.make("pi:k1", null);
    expect(dirname(made?.path ?? "")).toBe(join(root, directory));
    expect(plan).toMatchObject({ says: expect.arrayContaining([`to a new session in ${join(root, directory)}`]) });
    const { changed } = await reader.apply([made?.path ?? ""], evidence);
    const parent = { key: "pi:k1", relation: "fork" };
    expect(changed.find((one) => one.key === made?.key)).toMatchObject({ hidden: false, parent });
  });
});
