import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SourceAction } from "../../../src/sources/source.ts";
import { copyOfFixture } from "../../support/fixtures.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { type Answer, editState, evidenceOf, FakeDaemon, Followed, listOf, socketDirectory } from "./fake-daemon.ts";

const MAIN = "herrscher:auth-refactor";

/** A daemon that does what the real one would do to the state file. */
function obedient(statePath: string): (argv: string[]) => Answer {
  return (argv) => {
    const [, verb] = argv;
    const value = (flag: string): string => argv[argv.indexOf(`--${flag}`) + 1] ?? "";
    const each = (edit: (row: Record<string, unknown>) => void): Answer => {
      editState(statePath, (sessions) => {
        for (const row of sessions) if (row.name === value("name")) edit(row);
      });
      return { ok: "✅" };
    };
    switch (verb) {
      case "list":
        return listOf(statePath);
      case "archive":
        return each((row) => Object.assign(row, { archived: true }));
      case "resume":
        return each((row) => Object.assign(row, { archived: undefined }));
      case "set-budget":
        return each((row) => {
          for (const cap of ["cost_cap", "token_cap", "cohort_cost_cap", "cohort_token_cap"]) {
            if (argv.includes(`--${cap}`)) row[cap] = Number(value(cap));
          }
        });
      case "switch":
        return each((row) =>
          Object.assign(row, { vendor: value("vendor"), cmd: value("cmd"), resumeToken: undefined }),
        );
      case "close":
        editState(statePath, (sessions) => sessions.filter((row) => row.name !== value("name")));
        return { ok: "closed" };
      case "create":
        editState(statePath, (sessions) => [
          ...sessions,
          { name: value("name"), incarnation: "inc_NEW", channelID: "x" },
        ]);
        return { ok: "created" };
      case "seed":
        return { ok: JSON.stringify({ reply: "pong\u001b[31m", session: "x" }) };
      case "send":
        return { ok: "" };
      default:
        return { ok: "done" };
    }
  };
}

async function withDaemon(answer?: (argv: string[]) => Answer | null) {
  const dir = copyOfFixture("herrscher", "main");
  const statePath = join(dir, "state.json");
  const tmp = socketDirectory();
  const obey = obedient(statePath);
  const daemon = await FakeDaemon.start(tmp, "studio", (argv) => answer?.(argv) ?? obey(argv));
  const followed = await new Followed(dir, { TMPDIR: tmp, PATH: "" }).scan();
  const action = (verb: string, key = MAIN): SourceAction => {
    const found = followed.reader.actions(key).find((one) => one.id === `herrscher.${verb}`);
    if (found === undefined) throw new Error(`no ${verb}`);
    return found;
  };
  const sent = (): string[][] => daemon.asked.filter((argv) => argv[1] !== "list");
  return { dir, statePath, daemon, followed, action, sent };
}

describe("over the command socket", () => {
  it.each([
    ["archive", MAIN, {}, ["archive", "--name", "auth-refactor"]],
    ["resume", "herrscher:old-spike", {}, ["resume", "--name", "old-spike"]],
    ["close", MAIN, {}, ["close", "--name", "auth-refactor"]],
    ["close", MAIN, { force: "yes" }, ["close", "--name", "auth-refactor", "--force"]],
    ["interrupt", MAIN, {}, ["interrupt", "--name", "auth-refactor"]],
    ["send", MAIN, { text: 'say "hi" $(x)' }, ["send", "--name", "auth-refactor", "--text", 'say "hi" $(x)']],
    ["send", MAIN, { text: "--force" }, ["send", "--name", "auth-refactor", "--text=--force"]],
    ["budget", MAIN, { cost_cap: "2.50" }, ["set-budget", "--name", "auth-refactor", "--cost_cap", "2.50"]],
    [
      "budget",
      MAIN,
      { token_cap: "0", cohort_token_cap: "9000", scope: "cohort" },
      ["set-budget", "--name", "auth-refactor", "--token_cap", "0", "--cohort_token_cap", "9000", "--scope", "cohort"],
    ],
    [
      "switch",
      MAIN,
      { vendor: "codex", cmd: "codex -x", model: "gpt", handoff: "full" },
      [
        "switch",
        "--name",
        "auth-refactor",
        "--vendor",
        "codex",
        "--cmd",
        "codex -x",
        "--model",
        "gpt",
        "--handoff",
        "full",
      ],
    ],
    ["seed", MAIN, { task: "ping" }, ["seed", "--name", "auth-refactor", "--task", "ping", "--json"]],
    [
      "create",
      MAIN,
      { name: "Fresh One!", project: "p", model: "", cost_cap: "1" },
      ["create", "--name", "fresh-one", "--vendor", "claude", "--project", "p", "--terminal_only", "--cost_cap", "1"],
    ],
  ])("%s of %s with %j", async (verb, key, values, argv) => {
    const { action, sent } = await withDaemon();
    const chosen = action(verb, key);
    expect(chosen.disabled).toBeNull();
    expect(chosen.says(values as Record<string, string>, null).length).toBeGreaterThan(0);
    const done = await chosen.run(values as Record<string, string>, null);
    expect(sent()).toEqual([["session", ...argv]]);
    expect(done.join()).not.toContain("\u001b");
  });

  it.each([
    ["budget", { cost_cap: "NaN" }],
    ["budget", { cost_cap: "Inf" }],
    ["budget", { cost_cap: "-1" }],
    ["budget", { cohort_cost_cap: "9".repeat(400) }],
    ["budget", { token_cap: "1.5" }],
    ["budget", { token_cap: "18446744073709551616" }],
    ["budget", { cost_cap: "1", scope: "world" }],
    ["budget", {}],
    ["send", { text: "  " }],
    ["send", { text: "a\0b" }],
    ["switch", { vendor: "codex", cmd: "" }],
    ["switch", { vendor: "--x", cmd: "codex" }],
    ["create", { name: "///" }],
    ["create", { name: "main" }],
    ["create", { name: "x", cost_cap: "Inf" }],
    ["close", { force: "maybe" }],
  ])("%s with %j is refused before anything is sent, not even a question", async (verb, values) => {
    const { action, daemon, dir } = await withDaemon();
    const before = treeHash(dir);
    const asked = daemon.asked.length;
    await expect(action(verb).run(values as Record<string, string>, null)).rejects.toThrow(/./u);
    expect(daemon.asked).toHaveLength(asked);
    expect(treeHash(dir)).toEqual(before);
  });

  it("what the daemon refuses is said in its words", async () => {
    const { action } = await withDaemon((argv) => (argv[1] === "close" ? { err: "worktree\u001b has changes" } : null));
    await expect(action("close").run({}, null)).rejects.toThrow("herrscher refused: worktree· has changes");
  });

  it("an ok that the state file does not show is not believed", { timeout: 10_000 }, async () => {
    const { action } = await withDaemon((argv) => (argv[1] === "archive" ? { ok: "📦" } : null));
    await expect(action("archive").run({}, null)).rejects.toThrow("state.json does not show it");
  });

  it("an answer that stops half-way may have been done, and that is said", async () => {
    const { action } = await withDaemon((argv) => (argv[1] === "send" ? { raw: '{"ok"' } : null));
    await expect(action("send").run({ text: "x" }, null)).rejects.toThrow("it may still do it");
  });

  it("another daemon that took the socket meanwhile gets nothing", async () => {
    let mine = true;
    const { action, sent } = await withDaemon((argv) =>
      argv[1] === "list" && !mine ? { ok: '[{"name":"auth-refactor","incarnation":"inc_THEIRS"}]' } : null,
    );
    const archive = action("archive");
    mine = false;
    await expect(archive.run({}, null)).rejects.toThrow(/other sessions.*Nothing was sent/u);
    expect(sent()).toEqual([]);
  });

  it("a name that was used again since the question gets nothing", async () => {
    const { action, sent, statePath } = await withDaemon();
    const close = action("close");
    editState(statePath, (sessions) => {
      for (const row of sessions) if (row.name === "auth-refactor") row.incarnation = "inc_AGAIN";
    });
    await expect(close.run({}, null)).rejects.toThrow(/not the session it was.*Nothing was sent/u);
    expect(sent()).toEqual([]);
  });

  it("what cannot be done says why", async () => {
    const { action, followed } = await withDaemon();
    expect(action("archive", "herrscher:old-spike").disabled).toBe("it is archived already");
    expect(action("send", "herrscher:old-spike").disabled).toContain("archived");
    expect(action("resume").disabled).toBe("it is not archived");
    expect(followed.get("auth-refactor").can).toEqual([
      "archive",
      "send",
      "interrupt",
      "close",
      "budget",
      "switch",
      "spawn",
    ]);
    expect(followed.get("old-spike").can).toContain("resume");
  });
});

describe("without a daemon", () => {
  function program(body: string): { bin: string; log: string } {
    const bin = temporaryDirectory();
    const log = join(bin, "log");
    writeFileSync(
      join(bin, "herrscher"),
      `#!/bin/sh\nprintf '%s\\n' "$HERRSCHER_STATE_DIR" "$PWD" "$@" > "${log}"\n${body}\n`,
    );
    chmodSync(join(bin, "herrscher"), 0o755);
    return { bin, log };
  }

  it("the program is run with the same words, told where the state is", async () => {
    const dir = copyOfFixture("herrscher", "main");
    const { bin, log } = program(
      `sed -i 's/"name": "main",/"name": "main", "archived": true,/' "$HERRSCHER_STATE_DIR/state.json"`,
    );
    const followed = await new Followed(dir, { TMPDIR: socketDirectory(), PATH: `${bin}:/usr/bin:/bin` }).scan();
    const actions = followed.reader.actions("herrscher:main");
    const archive = actions.find((one) => one.id === "herrscher.archive");
    expect(archive?.says({}, null).join()).toContain("no daemon runs: the herrscher program does it");
    expect(await archive?.run({}, null)).toEqual(["main is archived"]);
    expect(readFileSync(log, "utf8").split("\n")).toEqual([dir, dir, "session", "archive", "--name", "main", ""]);
    expect(actions.find((one) => one.id === "herrscher.send")?.disabled).toContain("no daemon runs");
  });

  it("a program that fails says what it said", async () => {
    const dir = copyOfFixture("herrscher", "main");
    const { bin } = program('echo "no such thing" >&2; exit 3');
    const followed = await new Followed(dir, { TMPDIR: socketDirectory(), PATH: bin }).scan();
    const close = followed.reader.actions("herrscher:main").find((one) => one.id === "herrscher.close");
    await expect(close?.run({}, null)).rejects.toThrow("herrscher failed (3): no such thing");
  });

  it("without the program nothing is offered, with the reason", async () => {
    const followed = await new Followed(copyOfFixture("herrscher", "main"), {
      TMPDIR: socketDirectory(),
      PATH: "",
    }).scan();
    const reasons = new Set(followed.reader.actions("herrscher:main").map((one) => one.disabled));
    expect([...reasons]).toEqual(["no daemon runs, and there is no herrscher program on PATH"]);
    expect(followed.get("main").can).toEqual(["resume"]);
  });

  it("a relative worktree is not closed by a program in another directory", async () => {
    const { bin } = program("exit 0");
    const dir = copyOfFixture("herrscher", "cwd-mode");
    const followed = await new Followed(dir, { TMPDIR: socketDirectory(), PATH: bin }).scan();
    const close = followed.reader.actions("herrscher:app").find((one) => one.id === "herrscher.close");
    expect(close?.disabled).toContain("relative to the daemon's directory");
  });

  it("a daemon that appeared since the question is the one that is asked", async () => {
    const dir = copyOfFixture("herrscher", "main");
    const tmp = socketDirectory();
    const { bin, log } = program("exit 0");
    const followed = await new Followed(dir, { TMPDIR: tmp, PATH: bin }).scan();
    const archive = followed.reader.actions("herrscher:main").find((one) => one.id === "herrscher.archive");
    const daemon = await FakeDaemon.start(tmp, "studio", obedient(join(dir, "state.json")));
    followed.take(followed.reader.tick(evidenceOf()));
    await archive?.run({}, null);
    expect(daemon.asked.at(-1)).toEqual(["session", "archive", "--name", "main"]);
    expect(() => readFileSync(log)).toThrow();
  });
});
