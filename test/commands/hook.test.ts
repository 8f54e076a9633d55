import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../support/temp.ts";
import { CommandLine } from "./cli.ts";

const ID = "qm-1784547000";

interface Hooking {
  line: CommandLine;
  root: string;
}

/** A command line as an agent in one of questmaster's sessions has it. */
function hooking(env: Record<string, string> = {}): Hooking {
  const root = temporaryDirectory();
  const session = { QUESTMASTER_STATE_ROOT: root, QUESTMASTER_SESSION: ID, ...env };
  return { root, line: new CommandLine(temporaryDirectory(), session) };
}

describe("forktail hook leaves 0 and prints nothing: an agent takes 2 for a veto of its tool", () => {
  test.each([
    ["without an agent", ["hook"], /missing required argument 'agent'/u],
    ["without an action", ["hook", "claude"], /missing required argument 'action'/u],
    ["with an option it does not have", ["hook", "claude", "tool_start", "--bogus"], /unknown option '--bogus'/u],
    ["with an option before the agent", ["hook", "--bogus", "claude", "tool_start"], /unknown option '--bogus'/u],
    ["with more than it takes", ["hook", "claude", "working", "x", "y"], /too many arguments/u],
    ["with a session that is not named", ["hook", "claude", "working", "--session"], /argument missing/u],
    ["with a root that is not named", ["hook", "claude", "working", "--root"], /argument missing/u],
    ["with too much, behind a shared option", ["--json", "hook", "claude", "working", "x"], /too many arguments/u],
    ["behind an option nobody has", ["--bogus", "hook", "claude", "Stop"], /unknown option '--bogus'/u],
    ["behind two of them", ["--bogus", "-x", "hook", "claude", "Stop"], /unknown option '--bogus'/u],
    [
      "behind one and a shared option with its value",
      ["--config", "c", "--bogus", "--root", "codebot=d", "hook", "claude", "Stop"],
      /unknown option '--bogus'/u,
    ],
    ["behind its own option", ["--session", ID, "hook", "claude", "Stop"], /unknown option '--session'/u],
  ])("%s", async (_name, args, said) => {
    const { line, root } = hooking();
    const { code, stdout, stderr } = await line.bare(...args);
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toMatch(said);
    expect(readdirSync(root)).toEqual([]);
  });

  test.each([
    ["of an unknown agent", ["hook", "cobol", "starting"]],
    ["of an unknown action", ["hook", "claude", "dance"]],
    ["of a session that is none", ["hook", "claude", "starting", "--session", "../x"]],
  ])("%s", async (_name, args) => {
    const { line, root } = hooking();
    expect(await line.bare(...args)).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(readdirSync(root)).toEqual([]);
  });

  test("on a Node that is too old", async () => {
    const old = "Object.defineProperty(process.versions, 'node', { value: '18.0.0' })";
    const { line } = hooking({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(old)}` });
    const ended = await line.bare("hook", "claude", "tool_start");
    expect([ended.code, ended.stdout]).toEqual([0, ""]);
    expect(ended.stderr).toMatch(/needs Node/u);
    expect((await line.bare("--bogus", "--root", "codebot=d", "hook", "claude", "Stop")).code).toBe(0);
    expect((await line.bare("list")).code).toBe(1);
    expect((await line.bare("--config", "hook", "list")).code).toBe(1);
  });
});

test.each([[["hook", "--help"]], [["hook", "claude", "--help"]], [["hook", "claude", "working", "--help"]]])(
  "forktail %j says how it is called",
  async (args) => {
    const { code, stdout } = await hooking().line.bare(...args);
    expect(code).toBe(0);
    expect(stdout).toContain("Usage: forktail hook");
  },
);

test.each([
  [["hook", "claude", "starting"]],
  [["hook", "claude", "starting", "--session", ID]],
  [["hook", "claude", "starting", "--json"]],
])("forktail %j writes the session's state", async (args) => {
  const { line, root } = hooking();
  expect(await line.bare(...args)).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(readdirSync(join(root, ID)).sort()).toEqual(["state.json", "state.json.lock", "state.jsonl"]);
});

test("other commands still leave 2 for wrong usage", async () => {
  const { line } = hooking();
  expect((await line.bare("hooks")).code).toBe(2);
  expect((await line.bare("show", "--bogus", "hook")).code).toBe(2);
  expect((await line.bare("--bogus", "show", "hook")).code).toBe(2);
  expect((await line.bare("--config", "hook", "--bogus", "list")).code).toBe(2);
});
