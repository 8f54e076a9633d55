import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { geminiSource } from "../../../src/sources/gemini/source.ts";
import { opencodeSource } from "../../../src/sources/opencode/source.ts";
import { loadSqlite } from "../../../src/sources/opencode/sqlite.ts";
import { piSource } from "../../../src/sources/pi/source.ts";
import { following } from "../../live/live.ts";
import { copyOfFixture } from "../../support/fixtures.ts";
import { until } from "../../support/until.ts";

describe("what the live pipeline says", () => {
  test("of a pi session that grows, and is deleted while it is watched", async () => {
    const at = await following([join(copyOfFixture("pi"), "home/.pi/agent/sessions")], { sources: [piSource] });
    const key = "pi:nightly.build-7";
    const path = at.sessions.get(key)?.path ?? "";
    expect(at.sessions.get(key)?.damage).toMatchObject([{ kind: "torn-tail" }]);
    appendFileSync(path, '"}\n{"type":"session_info","id":"0000aaaa","parentId":"cf143546","name":"Named"}\n');
    await at.until(key, (one) => one?.title === "Named");
    rmSync(path);
    await at.until(key, (one) => one === undefined);
    expect(at.told.at(-1)).toBe(`-${key}`);
    await expect(at.live.reader(key).transcript(key)).rejects.toThrow("no session");
  });

  test("of a Gemini chat that is cleaned up while it is watched", async () => {
    const at = await following([join(copyOfFixture("gemini"), "home/.gemini/tmp")], { sources: [geminiSource] });
    const key = "gemini:d55266cf-d77f-4dc5-aae5-de8a375eaf39";
    rmSync(at.sessions.get(key)?.path ?? "");
    await at.until(key, (one) => one === undefined);
    expect(at.sessions.size).toBe(9);
  });

  test("of OpenCode's rows, written into a log that appears and goes", async () => {
    const root = join(copyOfFixture("opencode"), "home-v2/.local/share/opencode");
    const at = await following([root], { sources: [opencodeSource] });
    const key = "opencode:ses_azQKTQg7vVgHcsl6NAHGuiarbg";
    expect(at.sessions.get(key)).toMatchObject({ status: "failed", title: "Weigh the leaves" });
    const { DatabaseSync } = await loadSqlite();
    const database = new DatabaseSync(join(root, "opencode.db"));
    database.exec(
      `update session_v2 set title = 'Scales', time_updated = time_updated + 1 where id = 'ses_azQKTQg7vVgHcsl6NAHGuiarbg'`,
    );
    await at.until(key, (one) => one?.title === "Scales");
    database.exec(`delete from session_v2 where id = 'ses_azQKTQg7vVgHcsl6NAHGuiarbg'`);
    database.close();
    await at.until(key, (one) => one === undefined);
    expect(
      await until(
        () => at.sessions.size,
        (size) => size === 6,
      ),
    ).toBe(6);
    expect(at.problems.get("opencode") ?? []).toEqual([]);
  });
});
