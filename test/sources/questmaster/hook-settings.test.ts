import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type HooksSurroundings, hooksCommand } from "../../../src/commands/hooks.ts";
import { WrongUsage } from "../../../src/commands/wrong-usage.ts";
import { CLAUDE_EVENTS } from "../../../src/sources/questmaster/hooks/claude.ts";
import { CODEX_EVENTS } from "../../../src/sources/questmaster/hooks/codex.ts";
import { carryOut, planInstall, settingsPath } from "../../../src/sources/questmaster/hooks/install.ts";
import { commandsOf, isOurs, withHooks, withoutHooks } from "../../../src/sources/questmaster/hooks/settings-edit.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { treeHash } from "../../support/tree-hash.ts";

interface Home extends HooksSurroundings {
  home: string;
  printed: string[];
  asked: string[];
}

function home(answer: boolean | null = true): Home {
  const path = temporaryDirectory();
  const printed: string[] = [];
  const asked: string[] = [];
  const confirm = async (question: string): Promise<boolean> => {
    asked.push(question);
    return answer === true;
  };
  return {
    home: path,
    printed,
    asked,
    env: { HOME: path, FORKTAIL_STATE_DIR: join(path, "state") },
    program: "/usr/bin/forktail",
    print: (text) => void printed.push(text),
    confirm: answer === null ? null : confirm,
  };
}

function write(at: Home, name: string, text: string): string {
  const path = join(at.home, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const CLAUDE = ".claude/settings.json";
const CODEX = ".codex/hooks.json";

/** Settings as people have them: their own order, indent, line ends, hooks of others. */
const SETTINGS: [name: string, text: string][] = [
  ["small", '{\n  "model": "opus"\n}\n'],
  ["with tabs and no last line end", '{\n\t"a": [1,2],\n\t"b": {"c": 12345678901234567890}\n}'],
  ["with CRLF", '{\r\n    "model": "opus"\r\n}\r\n'],
  ["on one line", '{"model":"opus","hooks":{}}'],
  [
    "with others' hooks",
    '{\n  "hooks": {\n    "Stop": [\n      { "matcher": "", "hooks": [{ "type": "command", "command": "say done" }] }\n    ],\n    "PreToolUse": []\n  },\n  "x": null\n}\n',
  ],
  ["empty", ""],
  ["an empty object", "{}"],
];

describe.each(SETTINGS)("settings %s", (_name, text) => {
  it("get every event once, keep all the rest, and are given back byte for byte", async () => {
    const at = home();
    const path = write(at, CLAUDE, text);
    const before = treeHash(at.home);
    expect(await hooksCommand({}, "install", ["claude"], at)).toBe(0);
    const installed = readFileSync(path, "utf8");
    const ours = commandsOf(installed).filter(({ command }) => isOurs(command, "claude"));
    expect(ours).toEqual(
      Object.entries(CLAUDE_EVENTS)
        .map(([event, action]) => ({ event, command: `/usr/bin/forktail hook claude ${action}` }))
        .sort(byOrderOf(installed)),
    );
    const { hooks: _hooks, ...rest } = JSON.parse(installed);
    const { hooks: _none, ...original } = JSON.parse(text || "{}");
    expect(rest).toEqual(original);
    expect(commandsOf(installed).filter(({ command }) => !isOurs(command, "claude"))).toEqual(commandsOf(text));
    if (text.includes("\r\n")) expect(installed.replaceAll("\r\n", "")).not.toContain("\n");
    expect(await hooksCommand({}, "uninstall", ["claude"], at)).toBe(0);
    expect(readFileSync(path, "utf8")).toBe(text);
    const names = Object.keys(treeHash(at.home)).filter((name) => !name.startsWith("./state"));
    expect(names).toEqual(Object.keys(before));
    expect(readdirSync(join(at.home, "state", "hook-backups"))).toEqual([]);
  });

  it("that were changed since lose our hooks only", async () => {
    const at = home();
    const path = write(at, CLAUDE, text);
    await hooksCommand({}, "install", ["claude"], at);
    const changed = withHooks(readFileSync(path, "utf8").replace(/\}\s*$/u, ', "added": {"n": 1.50}}'), "other", []);
    writeFileSync(path, changed);
    expect(await hooksCommand({}, "uninstall", ["claude"], at)).toBe(0);
    const left = readFileSync(path, "utf8");
    expect(left).not.toContain("forktail");
    expect(left).toContain("1.50");
    expect(JSON.parse(left)).toEqual({ ...JSON.parse(text || "{}"), added: { n: 1.5 } });
  });
});

/** Events in the order in which the file holds them. */
function byOrderOf(text: string): (a: { event: string }, b: { event: string }) => number {
  const order = Object.keys(JSON.parse(text).hooks);
  return (a, b) => order.indexOf(a.event) - order.indexOf(b.event);
}

describe("installing", () => {
  it("makes the file when there is none, and removing takes it away again", async () => {
    const at = home();
    await hooksCommand({}, "install", [], at);
    expect(Object.keys(JSON.parse(readFileSync(join(at.home, CODEX), "utf8")).hooks)).toEqual(
      Object.keys(CODEX_EVENTS),
    );
    expect(existsSync(join(at.home, CLAUDE))).toBe(true);
    await hooksCommand({}, "uninstall", [], at);
    expect([CLAUDE, CODEX].filter((name) => existsSync(join(at.home, name)))).toEqual([]);
  });

  it("shows the change before it asks, and writes nothing when the answer is no", async () => {
    const at = home(false);
    write(at, CLAUDE, '{\n  "model": "opus"\n}\n');
    const before = treeHash(at.home);
    expect(await hooksCommand({}, "install", ["claude"], at)).toBe(1);
    expect(at.printed[0]).toContain('+            "command": "/usr/bin/forktail hook claude starting"');
    expect(at.asked).toHaveLength(1);
    expect(treeHash(at.home)).toEqual(before);
  });

  it("with --yes does not ask but shows; without anybody to ask it refuses", async () => {
    const at = home(null);
    write(at, CLAUDE, "{}");
    await expect(hooksCommand({}, "install", ["claude"], at)).rejects.toThrow(/--yes/u);
    expect(readFileSync(join(at.home, CLAUDE), "utf8")).toBe("{}");
    expect(await hooksCommand({ yes: true }, "install", ["claude"], at)).toBe(0);
    expect(at.printed.join("\n")).toContain("+");
  });

  it("twice changes nothing; with another path of the program it moves the hooks and still gives back the original", async () => {
    const at = home();
    const path = write(at, CLAUDE, '{\n  "model": "opus"\n}\n');
    await hooksCommand({}, "install", ["claude"], at);
    const once = readFileSync(path, "utf8");
    await hooksCommand({}, "install", ["claude"], at);
    expect(readFileSync(path, "utf8")).toBe(once);
    await hooksCommand({}, "install", ["claude"], { ...at, program: "'/opt/for me/forktail'" });
    expect(commandsOf(readFileSync(path, "utf8"))).toHaveLength(Object.keys(CLAUDE_EVENTS).length);
    await hooksCommand({}, "uninstall", ["claude"], at);
    expect(readFileSync(path, "utf8")).toBe('{\n  "model": "opus"\n}\n');
  });

  it("again after the person took our hooks out and changed the file gives back what they made of it", async () => {
    const at = home();
    const path = write(at, CLAUDE, '{"old":1}');
    await hooksCommand({}, "install", ["claude"], at);
    writeFileSync(path, '{"new":2}');
    await hooksCommand({}, "install", ["claude"], at);
    await hooksCommand({}, "uninstall", ["claude"], at);
    expect(readFileSync(path, "utf8")).toBe('{"new":2}');
  });

  it("keeps a backup, the mode, and a link to where the settings really are", async () => {
    const at = home();
    const real = write(at, "dotfiles/claude.json", '{"a":1}');
    mkdirSync(join(at.home, ".claude"));
    symlinkSync(real, join(at.home, CLAUDE));
    const mode = statSync(real).mode;
    await hooksCommand({}, "install", ["claude"], at);
    expect(readFileSync(join(at.home, "state/hook-backups/claude-settings.json"), "utf8")).toBe('{"a":1}');
    expect(readFileSync(real, "utf8")).toContain("forktail hook");
    expect(statSync(real).mode).toBe(mode);
    await hooksCommand({}, "uninstall", ["claude"], at);
    expect(readFileSync(real, "utf8")).toBe('{"a":1}');
  });

  it.each([
    ["torn", '{"a":', /not valid JSON/u],
    ["a list", "[]", /not a JSON object/u],
    ["with hooks that are a list", '{"hooks":[]}', /hooks is not an object/u],
    ["with an event that is no list", '{"hooks":{"Stop":{}}}', /hooks.Stop is not a list/u],
    ["with hooks twice", '{"hooks":{"Stop":[]},"hooks":{}}', /hooks stands there twice/u],
    ["with hooks twice, once escaped", '{"hooks":{},"a":1,"\\u0068ooks":{}}', /hooks stands there twice/u],
    ["with an event twice", '{"hooks":{"Stop":[],"PreToolUse":[],"Stop":[]}}', /hooks\.Stop stands there twice/u],
    [
      "with a group's commands twice",
      '{"hooks":{"Stop":[{"hooks":[],"hooks":[]}]}}',
      /hooks\.Stop\.hooks stands there/u,
    ],
  ])("leaves settings alone that are %s", async (_name, text, message) => {
    const at = home();
    const path = write(at, CLAUDE, text);
    await expect(hooksCommand({ yes: true }, "install", ["claude"], at)).rejects.toThrow(message);
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  it("does not mind what stands twice elsewhere", async () => {
    const at = home();
    const path = write(at, CLAUDE, '{"a":{"x":1,"x":2},"a":3}');
    await hooksCommand({ yes: true }, "install", ["claude"], at);
    expect(commandsOf(readFileSync(path, "utf8"))).toHaveLength(Object.keys(CLAUDE_EVENTS).length);
    await hooksCommand({}, "uninstall", ["claude"], at);
    expect(readFileSync(path, "utf8")).toBe('{"a":{"x":1,"x":2},"a":3}');
  });

  it("says what to mend when hooks came to stand there twice since, and takes nothing out", async () => {
    const at = home();
    const path = write(at, CLAUDE, "{}");
    await hooksCommand({ yes: true }, "install", ["claude"], at);
    const doubled = readFileSync(path, "utf8").replace(/\}\s*$/u, ', "hooks": {}}');
    writeFileSync(path, doubled);
    await expect(hooksCommand({}, "uninstall", ["claude"], at)).rejects.toThrow(/stands there twice: keep one/u);
    expect(readFileSync(path, "utf8")).toBe(doubled);
    await hooksCommand({}, "status", ["claude"], at);
    expect(at.printed.at(-1)).toMatch(/^claude: unreadable \(hooks stands there twice/u);
  });

  it("does not write over a change that was made while it asked", async () => {
    const at = home();
    const path = write(at, CLAUDE, "{}");
    const plan = planInstall("claude", at.program, at.env);
    writeFileSync(path, '{"by":"another"}');
    await expect(carryOut(plan, at.env)).rejects.toThrow(/has changed since/u);
    expect(readFileSync(path, "utf8")).toBe('{"by":"another"}');
  });

  it("says when questmaster's hooks would log everything a second time, and that Codex must trust new hooks", async () => {
    const at = home();
    write(
      at,
      CODEX,
      '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/h/.codex/hooks/questmaster-state.sh done"}]}]}}',
    );
    await hooksCommand({}, "install", ["codex"], at);
    expect(at.printed[0]).toMatch(/logged twice/u);
    expect(at.printed[0]).toMatch(/trusted/u);
  });

  it("refuses a program whose hooks it could not find again", () => {
    const at = home();
    expect(() => planInstall("claude", "/usr/bin/other", at.env)).toThrow(/not called forktail/u);
  });
});

describe("status", () => {
  it("tells what is installed, in words and in JSON, and changes nothing", async () => {
    const at = home();
    write(at, CLAUDE, withHooks("{}", "claude", [{ event: "Stop", command: "forktail hook claude done" }]));
    write(at, CODEX, "{");
    const before = treeHash(at.home);
    expect(await hooksCommand({}, "status", [], at)).toBe(0);
    expect(at.printed[0]).toMatch(/^claude: partly \(without SessionStart/u);
    expect(at.printed[1]).toMatch(/^codex: unreadable/u);
    await hooksCommand({ json: true }, "status", ["claude"], at);
    expect(JSON.parse(at.printed[2] ?? "")).toMatchObject({ schema: 1, hooks: [{ agent: "claude", state: "partly" }] });
    expect(treeHash(at.home)).toEqual(before);
    await hooksCommand({ yes: true }, "install", ["claude"], at);
    await hooksCommand({}, "status", ["claude"], at);
    expect(at.printed.at(-1)).toMatch(/^claude: installed/u);
  });

  it("knows only its own words", async () => {
    const at = home();
    await expect(hooksCommand({}, "status", ["pi"], at)).rejects.toBeInstanceOf(WrongUsage);
    await expect(hooksCommand({}, "explode", [], at)).rejects.toBeInstanceOf(WrongUsage);
  });

  it.each([
    ["claude", { HOME: "/h" }, "/h/.claude/settings.json"],
    ["claude", { HOME: "/h", CLAUDE_CONFIG_DIR: "/c" }, "/c/settings.json"],
    ["codex", { HOME: "/h", CODEX_HOME: "/x" }, "/x/hooks.json"],
    ["codex", {}, null],
  ] as const)("looks for %s with %j in %s", (agent, env, path) => {
    expect(settingsPath(agent, env)).toBe(path);
  });
});

describe("commands", () => {
  it.each([
    ["forktail hook claude done", true],
    ["'/a b/forktail' hook claude tool_start", true],
    ["/usr/bin/node /x/dist/forktail.js hook claude done", true],
    ["forktail hook codex done", false],
    ["forktail hook claude done; rm x", false],
    ["myfork hook claude done", false],
    [7, false],
  ])("%j is ours: %s", (command, ours) => {
    expect(isOurs(command, "claude")).toBe(ours);
  });

  it("of ours in a group with others' leave the others", () => {
    const text = '{"hooks":{"Stop":[{"hooks":[{"command":"a"},{"command":"forktail hook claude done"}]}]}}';
    expect(JSON.parse(withoutHooks(text, "claude"))).toEqual({ hooks: { Stop: [{ hooks: [{ command: "a" }] }] } });
  });
});
