import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { filesOfSession, keepFiles } from "../../src/actions/keep.ts";
import { findKept, restoreSession } from "../../src/actions/restore.ts";
import { type Kept, keptDirectory, keptSessions, storedPath } from "../../src/memory/kept.ts";
import type { Snapshot } from "../../src/session/snapshot.ts";
import { sessionOf } from "../support/sessions.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { treeHash } from "../support/tree-hash.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");

/** A tool's directory with a session of a main file and a member's, and our own state beside it. */
function place(id = "0badcafe") {
  const top = temporaryDirectory();
  const [tool, state] = [join(top, "tool"), join(top, "state")];
  const main = join(tool, "sessions", "a b", `${id.replaceAll("/", "_")}.jsonl`);
  const member = join(tool, "sessions", "a b", "members", "one.jsonl");
  mkdirSync(dirname(member), { recursive: true });
  writeFileSync(main, '{"n":1}\n'.repeat(1000));
  writeFileSync(member, "", { mode: 0o600 });
  const session = sessionOf(id, { path: main, title: "keep me", cwd: "/w", updatedAt: "2026-10-01T00:00:00.000Z" });
  const keep = (at = NOW, paths = [main, member], one: Snapshot = session) => keepFiles(state, one, paths, at);
  return { top, tool, state, main, member, session, keep };
}

const copies = (kept: Kept): string[] =>
  readdirSync(kept.directory)
    .filter((name) => name.endsWith(".zst"))
    .sort();

describe("keeping a session", () => {
  test("stores every file compressed, for its owner alone, and touches none of them", async () => {
    const { tool, state, main, member, keep } = place();
    const before = treeHash(tool);
    const { kept, unchanged, leftOut } = await keep();
    expect(treeHash(tool)).toEqual(before);
    expect({ unchanged, leftOut }).toEqual({ unchanged: false, leftOut: [] });
    expect(kept).toMatchObject({
      key: "statefile:0badcafe",
      title: "keep me",
      cwd: "/w",
      keptAt: "2026-11-20T12:00:00.000Z",
    });
    expect(kept.files.map((file) => [file.path, file.bytes])).toEqual([
      [main, 8000],
      [member, 0],
    ]);
    expect(kept.directory).toBe(join(state, "kept", "statefile", "0badcafe"));
    expect(readdirSync(kept.directory).sort()).toEqual([...copies(kept), "manifest.json"]);
    expect(kept.files[0]?.stored).toBeLessThan(500);
    for (const name of readdirSync(kept.directory))
      expect(statSync(join(kept.directory, name)).mode & 0o777).toBe(0o600);
    expect(statSync(kept.directory).mode & 0o777).toBe(0o700);
    expect(keptSessions(state)).toEqual([kept]);
  });

  test("again without a change writes nothing", async () => {
    const { state, keep } = place();
    await keep();
    const before = treeHash(state);
    expect((await keep(NOW + 1000)).unchanged).toBe(true);
    expect(treeHash(state)).toEqual(before);
  });

  test("that has grown replaces the copy that the new one contains", async () => {
    const { main, keep } = place();
    const first = copies((await keep()).kept);
    appendFileSync(main, '{"n":2}\n');
    const { kept } = await keep(NOW + 1000);
    expect(kept.earlier).toEqual([]);
    expect(copies(kept)).toHaveLength(2);
    expect(copies(kept)).not.toEqual(first);
  });

  test.each<[string, (main: string, member: string) => void]>([
    ["was rewritten", (main) => writeFileSync(main, "x".repeat(9000))],
    ["was cut", (main) => truncateSync(main, 4000)],
    ["lost a file", (_, member) => rmSync(member)],
  ])("that %s leaves the earlier copy restorable", async (_, change) => {
    const { state, main, member, keep } = place();
    const original = readFileSync(main);
    await keep();
    change(main, member);
    const { kept } = await keep(NOW + 1000);
    expect(kept.earlier).toEqual(["2026-11-20T12:00:00.000Z"]);
    rmSync(main);
    rmSync(member, { force: true });
    await restoreSession(findKept(state, kept.key, "2026-11-20T12:00:00.000Z"));
    expect(readFileSync(main).equals(original)).toBe(true);
    expect(existsSync(member)).toBe(true);
    expect(() => findKept(state, kept.key, "2026-01-01T00:00:00.000Z")).toThrow("there is 2026-11-20T12:00:01.000Z");
  });

  test("of a damaged copy makes it anew", async () => {
    const { keep, main } = place();
    const { kept } = await keep();
    const path = storedPath(kept.directory, kept.files[0] ?? { sha256: "" });
    writeFileSync(path, "broken");
    const again = await keep();
    rmSync(main);
    await restoreSession(again.kept);
    expect(statSync(path).size).toBe(again.kept.files[0]?.stored);
  });

  test("of many megabytes is the same afterwards", async () => {
    const { main, keep } = place();
    const bytes = Buffer.concat([randomBytes(3_000_001), Buffer.alloc(2_500_000, "abc")]);
    writeFileSync(main, bytes);
    const { kept } = await keep();
    rmSync(main);
    await restoreSession(kept);
    expect(readFileSync(main).equals(bytes)).toBe(true);
  });

  test("leaves out what is no regular file, and says so; what is gone is nothing to say", async () => {
    const { tool, main, keep } = place();
    symlinkSync("/etc/passwd", join(tool, "link"));
    const { kept, leftOut } = await keep(NOW, [main, join(tool, "link"), join(tool, "gone")]);
    expect(kept.files.map((file) => file.path)).toEqual([main]);
    expect(leftOut).toEqual([expect.stringContaining("link: a link or a special file")]);
  });

  test.each<[string, (main: string) => void, string]>([
    ["whose main file is gone", (main) => rmSync(main), "no such file"],
    [
      "that lies in a database",
      (main) => writeFileSync(main, "SQLite format 3\0 and pages"),
      "a database of many sessions",
    ],
  ])("%s is refused, and nothing is left", async (_, change, message) => {
    const { state, main, keep } = place();
    change(main);
    await expect(keep()).rejects.toThrow(message);
    expect(readdirSync(join(state, "kept"))).toEqual([]);
  });

  test.each([
    ["statefile:0badcafe", "statefile/0badcafe"],
    ["codebot@2:7f00a1e2", "codebot@2/7f00a1e2"],
    ["herrscher:..", /^herrscher\/~[0-9a-f]{40}$/u],
    ["herrscher:../../etc/passwd", /^herrscher\/~[0-9a-f]{40}$/u],
    ["herrscher:.hidden", /^herrscher\/~[0-9a-f]{40}$/u],
    ["herrscher:a\u0000b", /^herrscher\/~[0-9a-f]{40}$/u],
    ["herrscher:日本", /^herrscher\/~[0-9a-f]{40}$/u],
    [`herrscher:${"x".repeat(300)}`, /^herrscher\/~[0-9a-f]{40}$/u],
  ])("of %j stays in its own directory", (key, expected) => {
    const path = keptDirectory("/state", key);
    expect(path.startsWith("/state/kept/")).toBe(true);
    expect(path.slice("/state/kept/".length)).toMatch(expected);
  });

  test("of no key is refused", () => {
    expect(() => keptDirectory("/state", "../x")).toThrow("not a session key");
  });

  test("takes the main file first, then its text and its members', each once", () => {
    const session = sessionOf("a", { path: "/t/a" });
    expect(filesOfSession(session, {})).toEqual(["/t/a"]);
    const reader = {
      files: () => ["/t/base", "/t/a"],
      members: () => [
        { of: "one", files: ["/t/one"] },
        { of: "two", files: null },
      ],
    };
    expect(filesOfSession(session, reader)).toEqual(["/t/a", "/t/base", "/t/one"]);
    expect(filesOfSession(session, { files: () => null })).toEqual(["/t/a"]);
  });
});

describe("restoring a session", () => {
  test("puts back bytes and modes, and makes the directories that went with them", async () => {
    const { tool, state, main, member, keep } = place();
    chmodSync(main, 0o640);
    const old = new Date(NOW - 40 * 86_400_000);
    utimesSync(main, old, old);
    const bytes = readFileSync(main);
    await keep();
    rmSync(tool, { recursive: true });
    const { files, there } = await restoreSession(findKept(state, "0badcafe"));
    expect({ files, there }).toEqual({ files: [main, member], there: [] });
    expect(readFileSync(main).equals(bytes)).toBe(true);
    expect(readFileSync(member)).toHaveLength(0);
    expect([statSync(main).mode & 0o777, statSync(member).mode & 0o777]).toEqual([0o640, 0o600]);
    // By its old time it would be swept away again.
    expect(Date.now() - statSync(main).mtimeMs).toBeLessThan(60_000);
    expect(readdirSync(dirname(main)).sort()).toEqual([expect.stringMatching(/jsonl$/u), "members"]);
  });

  test("touches nothing that is there, and says so", async () => {
    const { state, main, member, keep } = place();
    await keep();
    writeFileSync(main, "written since");
    rmSync(member);
    const { files, there } = await restoreSession(findKept(state, "statefile:0badcafe"));
    expect({ files, there }).toEqual({ files: [member], there: [main] });
    expect(readFileSync(main, "utf8")).toBe("written since");
    await expect(restoreSession(findKept(state, "0badcafe"))).rejects.toThrow("nothing had to be restored");
  });

  test("does not go through a link that took the file's place", async () => {
    const { top, state, main, keep } = place();
    await keep();
    rmSync(main);
    symlinkSync(join(top, "elsewhere"), main);
    await expect(restoreSession(findKept(state, "0badcafe"))).rejects.toThrow("nothing had to be restored");
    expect(existsSync(join(top, "elsewhere"))).toBe(false);
  });

  test.each<[string, (path: string) => void, string]>([
    ["cut", (path) => truncateSync(path, 12), "is damaged"],
    ["of other bytes", (path) => writeFileSync(path, "not compressed at all"), "is damaged"],
    ["emptied", (path) => truncateSync(path, 0), "is damaged"],
    ["gone", (path) => rmSync(path), "no such file"],
  ])("from a copy that is %s restores nothing at all", async (_, damage, message) => {
    const { tool, state, keep } = place();
    const { kept } = await keep();
    rmSync(tool, { recursive: true });
    damage(storedPath(kept.directory, kept.files[0] ?? { sha256: "" }));
    await expect(restoreSession(findKept(state, "0badcafe"))).rejects.toThrow(message);
    expect(existsSync(tool)).toBe(false);
  });

  test("from a copy that holds more than it says stops there", async () => {
    const { tool, state, keep } = place();
    const { kept } = await keep();
    const manifest = join(kept.directory, "manifest.json");
    writeFileSync(manifest, readFileSync(manifest, "utf8").replace('"bytes": 8000', '"bytes": 7999'));
    rmSync(tool, { recursive: true });
    await expect(restoreSession(findKept(state, "0badcafe"))).rejects.toThrow("more than it should");
    expect(existsSync(tool)).toBe(false);
  });

  test("that fails in the middle takes back what it made", async () => {
    const { tool, state, main, member, keep } = place();
    const { kept } = await keep(NOW, [main, member]);
    rmSync(tool, { recursive: true });
    // The main file comes last, and its directory cannot be made.
    mkdirSync(join(tool, "sessions"), { recursive: true });
    symlinkSync(join(tool, "no", "such"), join(tool, "bar"));
    const path = join(tool, "bar", "x");
    const barred = { ...kept, files: kept.files.map((file, at) => (at === 0 ? { ...file, path } : file)) };
    const before = treeHash(join(tool, "sessions"));
    await expect(restoreSession(barred)).rejects.toThrow();
    expect(Object.keys(treeHash(join(tool, "sessions")))).toEqual(Object.keys(before));
    expect(keptSessions(state)).toHaveLength(1);
  });

  test.each([
    ["relative", "sessions/x"],
    ["climbing", "/tmp/../etc/cron.d/x"],
    ["cut by a NUL", "/tmp/x\\u0000y"],
  ])("refuses a manifest with a path that is %s", async (_, path) => {
    const { state, main, keep } = place();
    const { kept } = await keep();
    const manifest = join(kept.directory, "manifest.json");
    writeFileSync(manifest, readFileSync(manifest, "utf8").replace(JSON.stringify(main), `"${path}"`));
    const damaged: string[] = [];
    expect(keptSessions(state, (directory) => damaged.push(directory))).toEqual([]);
    expect(damaged).toEqual([kept.directory]);
    expect(() => findKept(state, "0badcafe")).toThrow("nothing is kept of 0badcafe");
  });

  test("asks which one when an id names two", async () => {
    const { state, main, session, keep } = place();
    await keep();
    await keep(NOW, [main], { ...session, key: "statefile@2:0badcafe" });
    expect(() => findKept(state, "0badcafe")).toThrow("statefile@2:0badcafe");
    expect(findKept(state, "statefile@2:0badcafe").key).toBe("statefile@2:0badcafe");
  });
});
