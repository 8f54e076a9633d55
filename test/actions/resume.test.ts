import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { osc52 } from "../../src/actions/clipboard.ts";
import { goToPane, onPath, planResume, programOf, resumeInTmux, shellLine } from "../../src/actions/resume.ts";
import { openWorkplace, readEverything } from "../../src/commands/context.ts";
import { BEGINNING, finished, writeSession } from "../support/state-writer.ts";
import { makeDirectory, temporaryDirectory } from "../support/temp.ts";

function programIn(directory: string, name: string, script = "#!/bin/sh\n"): string {
  writeFileSync(join(directory, name), script);
  chmodSync(join(directory, name), 0o755);
  return directory;
}

describe("a line to paste into a shell", () => {
  test.each([
    [["mainplane", "chat", "aaaaaaaa"], null, "mainplane chat aaaaaaaa"],
    [["claude", "--resume", "a b"], "/home/ada/my web", "cd '/home/ada/my web' && claude --resume 'a b'"],
    [["x", "it's", "$(rm -rf ~)", "", "`id`", "a;b"], null, "x 'it'\\''s' '$(rm -rf ~)' '' '`id`' 'a;b'"],
    [["x", "日本語", "-n", "--a=b/c:d@e%f,g+h"], null, "x '日本語' -n --a=b/c:d@e%f,g+h"],
    [["x"], "/tmp/\u001b]52;c;eA==\u0007", "cd $'/tmp/\\033]52;c;eA==\\007' && x"],
    [["x", "it's\ttwo\nlines\\"], null, "x $'it\\047s\\011two\\012lines\\134'"],
    [["x", "txt.\u202eexe"], null, "x $'txt.\\342\\200\\256exe'"],
  ])("%j in %s", (argv, cwd, line) => {
    expect(shellLine({ argv, cwd })).toBe(line);
  });

  test("gives a shell every word as it is", () => {
    const argv = ["it's", "\u001b]52;c;eA==\u0007", "a\tb\nc\\n", "\u202e日本語'\u009b1", "$(id)"];
    const said = execFileSync("bash", ["-c", `printf '%s\\0' ${shellLine({ argv, cwd: null })}`], { encoding: "utf8" });
    expect(said.split("\0").slice(0, -1)).toEqual(argv);
  });
});

test.each([
  [["claude", "--resume", "x"], "claude"],
  [["env", "OPENCODE_DB=/x/a.db", "B=", "opencode", "-s", "C=1"], "opencode"],
  [["env"], ""],
  [[], ""],
])("the program of %j is %j", (argv, program) => {
  expect(programOf({ argv, cwd: null })).toBe(program);
});

describe("what resuming would do", () => {
  async function planned(env: NodeJS.ProcessEnv, over: { livePane?: string } = {}, drafts = finished("one")) {
    const dir = temporaryDirectory();
    writeSession(dir, "aaaaaaaa", drafts);
    const place = await openWorkplace(
      { root: [`statefile=${dir}`] },
      { env: { HOME: "/nowhere", FORKTAIL_STATE_DIR: temporaryDirectory(), ...env }, only: true },
    );
    const { sessions } = await readEverything(place);
    const snapshot = sessions.get("statefile:aaaaaaaa");
    if (!snapshot) throw new Error("the session was not read");
    const plan = await planResume(place, { ...snapshot, ...over });
    await place.live.close();
    return plan;
  }

  test("run the tool's own command when it is there", async () => {
    const PATH = programIn(temporaryDirectory(), "mainplane");
    expect(await planned({ PATH })).toMatchObject({
      kind: "run",
      command: { argv: ["mainplane", "chat", "aaaaaaaa"], cwd: null },
    });
  });

  test("say what is missing, and still name the command", async () => {
    expect(await planned({ PATH: temporaryDirectory() })).toEqual({
      kind: "cannot",
      reason: "mainplane is not on PATH: install it, or copy the command with y",
      command: { argv: ["mainplane", "chat", "aaaaaaaa"], cwd: null },
    });
  });

  test("go to the pane in which it is live", async () => {
    expect(await planned({ PATH: "" }, { livePane: "%7" })).toMatchObject({ kind: "go", pane: "%7" });
  });

  test("nothing, for a session that the tool cannot continue", async () => {
    const noConfig = BEGINNING.slice(0, 1);
    expect(
      await planned({ PATH: "" }, {}, [...noConfig, { kind: "message", type: "text/plain", body: "x" }]),
    ).toMatchObject({
      kind: "cannot",
      reason: "it has no config record: the tool cannot continue it",
    });
  });
});

describe("programs", () => {
  test("count when they are files that may be run", () => {
    const dir = programIn(temporaryDirectory(), "yes");
    writeFileSync(join(dir, "no"), "");
    mkdirSync(join(dir, "directory"));
    const env = { PATH: `/nowhere:${dir}` };
    expect(["yes", "no", "directory", "gone"].map((name) => onPath(name, env))).toEqual([true, false, false, false]);
    expect(onPath(join(dir, "yes"), { PATH: "" })).toBe(true);
  });
});

describe("tmux is given argument lists and exact targets", () => {
  /** A tmux that writes down its arguments, one a line, an empty line behind each call. */
  function fakeTmux(answer = ""): { env: NodeJS.ProcessEnv; calls: string } {
    const dir = makeDirectory(temporaryDirectory(), "bin");
    const calls = join(dir, "calls");
    programIn(dir, "tmux", `#!/bin/sh\nprintf '%s\\n' "$@" '' >> '${calls}'\nprintf '%s' '${answer}'\n`);
    return { env: { PATH: `${dir}:/usr/bin:/bin`, TMUX: "/tmp/x,1,0", TMUX_PANE: "%3" }, calls };
  }

  test("a split beside our pane, the words of the command as they are", async () => {
    const { env, calls } = fakeTmux();
    await resumeInTmux({ argv: ["tool", "$(id)", "; ls"], cwd: "/home/ada" }, "split", env);
    expect(readFileSync(calls, "utf8").split("\n").slice(0, -2)).toEqual([
      ...["split-window", "-h", "-t", "%3", "-c", "/home/ada", "-e", `PATH=${env.PATH}`],
      ...["--", "tool", "$(id)", "; ls"],
    ]);
  });

  test("a window behind ours", async () => {
    const { env, calls } = fakeTmux("@5");
    await resumeInTmux({ argv: ["tool"], cwd: null }, "window", env);
    const [asked, made] = readFileSync(calls, "utf8").split("\n\n");
    expect(asked?.split("\n")).toEqual(["display-message", "-p", "-t", "%3", "#{window_id}"]);
    expect(made?.split("\n")).toEqual(["new-window", "-a", "-t", "@5", "-e", `PATH=${env.PATH}`, "--", "tool"]);
  });

  test.each(["", "3", "%", "%3;kill-server", "=main:0", "%1\n%2"])("%j is no pane to go to", async (pane) => {
    await expect(goToPane(pane, { PATH: "" })).rejects.toThrow("is not a tmux pane");
  });
});

test("the clipboard's sequence is wrapped for tmux, with every ESC doubled", () => {
  expect(osc52("aGk=", {})).toBe("\x1b]52;c;aGk=\x07");
  expect(osc52("aGk=", { TMUX: "x" })).toBe("\x1b]52;c;aGk=\x07\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\");
});
