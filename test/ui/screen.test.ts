import { appendFileSync, existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { read } from "../../src/sources/statefile/index.ts";
import { KEYMAP } from "../../src/ui/keymap.ts";
import { rowsDrawn } from "../../src/ui/list/session-row.tsx";
import { BEGINNING, type Draft, finished, records, turn, turnWithCall, writeSession } from "../support/state-writer.ts";
import { temporaryDirectory } from "../support/temp.ts";
import { treeHash } from "../support/tree-hash.ts";
import { until } from "../support/until.ts";
import { screenOn } from "./screen-robot.ts";

const SIZES = [
  { cols: 40, rows: 20 },
  { cols: 80, rows: 24 },
  { cols: 160, rows: 50 },
] as const;

/** Three sessions, newest first: a long one, one that failed, one with a call that failed. */
function someSessions(): string {
  const dir = temporaryDirectory();
  const long = Array.from({ length: 30 }, (_, n) => turn(3 + n * 3, `question ${n + 1}`, `answer ${n + 1}`)).flat();
  writeSession(dir, "aaaaaaaa", [...BEGINNING, ...long], 3600);
  writeSession(dir, "bbbbbbbb", [
    ...BEGINNING,
    { kind: "message", type: "text/plain", body: "Reindex the archive" },
    { kind: "error", type: "text/plain", source: "provider", body: "the disk is full" },
  ]);
  writeSession(dir, "cccccccc", [
    ...BEGINNING,
    ...turnWithCall(3, "Run the linter", "npm run lint", "3 problems\n".repeat(40), 1),
  ]);
  return dir;
}

describe.each(SIZES)("a screen of $cols×$rows", ({ cols, rows }) => {
  test("lists the sessions, opens one, goes through its views and comes back", async () => {
    const { robot, screen } = await screenOn(someSessions(), { cols, rows });
    await robot.see("question 1");
    await robot.see("Reindex the archive");
    await robot.see("Run the linter");
    await robot.press("g", "Enter");
    await robot.see("answer 30");
    await robot.see("following");
    await robot.press("Tab");
    await robot.see("3/90");
    await robot.press("Tab");
    await until(() => screen.view.open?.view === "usage");
    await robot.see(/[Tt]okens|input|context/u);
    await robot.press("Tab");
    await robot.see("aaaaaaaa");
    await robot.press("shift+Tab", "Escape");
    await robot.see("Reindex the archive");
    expect(robot.screen().at(-1)).toMatch(/\? help/u);
  });

  test("that opens on sessions which were read before it selects the first one", async () => {
    const { robot, screen } = await screenOn(someSessions(), { cols, rows, readFirst: true });
    await robot.press("Enter");
    expect(screen.session()?.id).toBe("aaaaaaaa");
    await robot.see("answer 30");
  });

  test("^d and ^u move by half of the sessions that are in sight", async () => {
    const dir = temporaryDirectory();
    for (let n = 10; n < 70; n += 1) writeSession(dir, `${n}aaaaaa`, finished(`session ${n}`, "Done."), n * 60);
    const { robot, screen } = await screenOn(dir, { cols, rows });
    await robot.see("session 10");
    const selected = () => screen.rows().keys.indexOf(screen.view.selected ?? "statefile:");
    await robot.press("g");
    await until(() => selected() === 0);
    const inSight = robot.screen().filter((line) => /session \d\d/u.test(line.slice(0, 40))).length;
    expect(inSight).toBeGreaterThan(7);
    const half = Math.round(inSight / 2);
    await robot.press("ctrl+d");
    await until(() => selected() === half);
    await robot.press("ctrl+d", "ctrl+u", "ctrl+u");
    await until(() => selected() === 0);
  });

  test("says why a status is what it is, and what every key of the place does", async () => {
    const { robot, screen } = await screenOn(someSessions(), { cols, rows });
    await robot.press("g", "w");
    await robot.see("why this status");
    await robot.see("recorded by the tool");
    await robot.press("Escape");
    await robot.seeNo("why this status");
    for (const place of ["list", "transcript"] as const) {
      if (place === "transcript") await robot.press("Enter");
      await until(() => screen.place() === place);
      await robot.press("?");
      await robot.see(`keys: ${place}`);
      const seen = new Set<string>();
      for (let page = 0; page < 120; page += 1) {
        for (const line of robot.screen()) seen.add(line.trim());
        await robot.press("j");
      }
      const text = [...seen].join("\n");
      for (const command of KEYMAP.filter((one) => one.where.includes(place))) {
        const [first = ""] = command.help.split(/[ ,;:]/u);
        expect(text, command.id).toContain(first);
      }
      await robot.press("Escape");
      await robot.seeNo(`keys: ${place}`);
    }
  });

  test("forks, and reverts and undoes, only after a yes", async () => {
    const dir = someSessions();
    const before = treeHash(dir);
    const { robot, store, screen } = await screenOn(dir, { cols, rows });
    await robot.press("g", "f");
    await robot.see("Fork this session?");
    await robot.press("n");
    await robot.see("left as it is");
    expect(treeHash(dir)).toEqual(before);

    await robot.press("f");
    await robot.see("Fork this session?");
    await robot.press("y");
    // While the copy is written it has a name that no tool takes for a session.
    const sessions = (): string[] => readdirSync(dir).filter((name) => name.endsWith(".state"));
    await until(() => sessions().length === 4);
    const forked = sessions().find((name) => !/^(a{8}|b{8}|c{8})\./u.test(name)) ?? "";
    await robot.see("forked:");
    await until(() => store.getState().sessions.has(`statefile:${forked.slice(0, 8)}`));
    expect(read(join(dir, forked))).toEqual(read(join(dir, "aaaaaaaa.state")));
    expect(screen.session()?.id).toBe(forked.slice(0, 8));

    // Back to before the last question of the original.
    await robot.press("Escape");
    screen.select("statefile:aaaaaaaa");
    await robot.press("Enter");
    await until(() => screen.session()?.id === "aaaaaaaa" && screen.entry() !== null);
    await robot.press("{");
    await until(() => screen.entry()?.kind === "message");
    const ref = screen.entry()?.ref;
    await robot.press("v");
    await robot.see("Go back to before this entry?");
    await robot.press("y");
    await robot.see("reverted:");
    const copy = screen.view.selected ?? "";
    await until(() => store.getState().sessions.has(copy));
    expect(read(join(dir, `${copy.slice(10)}.state`))).toHaveLength(Number(ref) - 1);
    expect(screen.rows().keys).not.toContain("statefile:aaaaaaaa");

    await robot.press("u");
    await robot.see("Undo the revert?");
    await robot.press("y");
    await robot.see("is back");
    expect(screen.rows().keys).toContain("statefile:aaaaaaaa");
    expect(screen.rows().keys).not.toContain(copy);
    for (const name of ["aaaaaaaa.state", "bbbbbbbb.state", "cccccccc.state"]) {
      expect(treeHash(dir)[`./${name}`]).toBe(before[`./${name}`]);
    }
  });

  test("filters as one types, finds with / n and N in a transcript", async () => {
    const { robot, screen } = await screenOn(someSessions(), { cols, rows });
    await robot.press("/");
    await robot.type("reindex");
    await until(() => screen.rows().keys.length === 1);
    await robot.see("Reindex the archive");
    await robot.press("Enter");
    await robot.press("Escape");
    await until(() => screen.rows().keys.length === 3);
    await robot.press("/");
    await robot.type("nothing like it");
    await robot.see("Nothing matches");
    await robot.press("Escape");
    await until(() => screen.rows().keys.length === 3);

    screen.select("statefile:aaaaaaaa");
    await robot.press("Enter", "g");
    await robot.see("question 1");
    await robot.press("/");
    await robot.type("answer 2");
    await robot.press("Enter");
    await until(() => screen.entry()?.text === "answer 2");
    await robot.press("n");
    await until(() => screen.entry()?.text === "answer 20");
    await robot.press("N");
    await until(() => screen.entry()?.text === "answer 2");
    await robot.press("N");
    await robot.see("no earlier match");
  });

  test("redraws at every size one drags it through", async () => {
    const { robot } = await screenOn(someSessions(), { cols, rows });
    await robot.press("g", "Enter");
    await robot.see("answer 30");
    for (const [width, height] of [
      [20, 6],
      [99, 30],
      [100, 30],
      [7, 3],
      [cols, rows],
    ] as const) {
      await robot.resize(width, height);
      await robot.settle();
      expect(robot.screen()).toHaveLength(height);
    }
    await robot.see("answer 30");
  });
});

describe("reading a transcript", () => {
  test("folds and unfolds an entry, and shows all entries at three levels", async () => {
    const { robot, screen } = await screenOn(someSessions());
    screen.select("statefile:cccccccc");
    await robot.press("Enter");
    await robot.see("It printed");
    await robot.press("g", "J");
    for (let n = 0; n < 12 && screen.entry()?.kind !== "result"; n += 1) {
      await robot.press("J");
    }
    expect(screen.entry()?.kind).toBe("result");
    const count = (): number => robot.screen().filter((line) => line.includes("3 problems")).length;
    const folded = count();
    await robot.press("Enter");
    await until(() => count() > folded + 3);
    await robot.press("Enter");
    await robot.press("Enter");
    await until(() => count() === folded);
    for (const words of ["everything", "outline", "what was said"]) {
      await robot.press("z");
      await robot.see(`showing ${words}`);
    }
  });

  test("follows the end; scrolled up it stays, and says how much is new", async () => {
    const dir = someSessions();
    const path = join(dir, "aaaaaaaa.state");
    const { robot } = await screenOn(dir);
    await robot.press("g", "Enter");
    await robot.see("following");
    appendFileSync(path, records(turn(93, "question 31", "answer 31"), 93));
    await robot.see("answer 31");
    await robot.see("following");

    for (let n = 0; n < 30; n += 1) await robot.press("k");
    await robot.seeNo("following");
    const shown = robot.screen().slice(4, -2);
    appendFileSync(path, records(turn(96, "question 32", "answer 32"), 96));
    await robot.see("3 new");
    expect(robot.screen().slice(4, -2)).toEqual(shown);
    await robot.press("G");
    await robot.see("answer 32");
    await robot.see("following");
    await robot.press("F");
    await robot.seeNo("following");
  });

  test("a burst of keys in one write is as many keys", async () => {
    const { robot, screen } = await screenOn(someSessions());
    await robot.press("g");
    const { keys } = screen.rows();
    await robot.type("jj");
    expect(screen.view.selected).toBe(keys[2]);
    await robot.type("kkj");
    expect(screen.view.selected).toBe(keys[1]);
    await robot.type("/reindex\r");
    await until(() => screen.rows().keys.length === 1);
    expect(screen.view.overlay).toBeNull();
    expect(screen.view.filter).toBe("reindex");
  });

  test("keys that waited while the program was busy do what they do one by one", async () => {
    const { robot, screen } = await screenOn(someSessions());
    await robot.press("g");
    const { keys } = screen.rows();
    await robot.type("\x04\x04");
    expect(screen.view.selected).toBe(keys[2]);
    await robot.type("/lint\x15reindx\x02e\r");
    expect(screen.view.filter).toBe("reindex");
    await robot.type("/\x03n");
    expect(screen.view.overlay?.type ?? null).toBe(null);
  });

  test("pasted text is typed where one types, and runs no keys anywhere else", async () => {
    const dir = someSessions();
    const { robot, screen } = await screenOn(dir);
    const before = treeHash(dir);
    await robot.press("g", "Enter");
    await robot.see("answer 30");
    await robot.paste("f\ny\nq");
    await robot.see("pasted text runs no keys");
    expect(screen.view.overlay).toBeNull();
    expect(screen.view.focus).toBe("detail");
    await robot.press("Escape", "f");
    await robot.see("Fork this session?");
    await robot.paste("y\n");
    await robot.see("Fork this session?");
    await robot.press("n", "/");
    await robot.paste("reindex the\narchive\n");
    expect(screen.view.filter).toBe("reindex the archive");
    expect(screen.view.overlay?.type).toBe("filter");
    await robot.type("x");
    expect(screen.view.filter).toBe("reindex the archivex");
    expect(treeHash(dir)).toEqual(before);
  });

  test("a session whose file goes away says so, and the screen lives on", async () => {
    const dir = someSessions();
    const { robot } = await screenOn(dir);
    await robot.press("g", "Enter");
    await robot.see("answer 30");
    rmSync(join(dir, "aaaaaaaa.state"));
    await robot.see(/gone|cannot be read/u);
    await robot.press("Escape");
    await robot.see("Reindex the archive");
  });

  test("an entry before which no fork may end says why", async () => {
    const dir = someSessions();
    const { robot, screen } = await screenOn(dir);
    await robot.press("g", "Enter");
    await robot.see("answer 30");
    await until(() => screen.entry() !== null);
    await robot.press("g", "f");
    await robot.see(/no fork here: .*must keep start and config/u);
    await robot.press("v");
    await robot.see(/no revert here/u);
    expect(readdirSync(dir)).toHaveLength(3);
  });
});

describe("what lies on top", () => {
  test("the palette runs a command by its words", async () => {
    const { robot } = await screenOn(someSessions());
    await robot.press(":");
    await robot.see("commands");
    await robot.type("sort next");
    await robot.press("Enter");
    await robot.see("sorted by status");
  });

  test("the copy menu copies by OSC 52, to the terminal alone", async () => {
    const { robot, asked } = await screenOn(someSessions());
    await robot.press("g", "y");
    await robot.see("session id");
    await robot.press("Down", "Enter");
    await robot.see("session id copied to the terminal");
    const bytes = String(asked.written.read());
    expect(bytes).toBe(`\x1b]52;c;${Buffer.from("aaaaaaaa").toString("base64")}\x07`);
  });

  test("resume says what is missing before anything is launched", async () => {
    const { robot, asked } = await screenOn(someSessions());
    await robot.press("g", "r");
    await robot.see("mainplane is not on PATH");
    expect(asked.ran).toEqual([]);
  });

  test("leaves and stops by its keys, and ctrl+c leaves an overlay first", async () => {
    const { robot, asked, screen } = await screenOn(someSessions());
    await robot.press("?");
    await robot.see("keys: list");
    await robot.press("ctrl+c");
    await until(() => screen.view.overlay === null);
    expect(asked.quits).toBe(0);
    await robot.press("ctrl+z", "q");
    expect(asked).toMatchObject({ stops: 1, quits: 1 });
  });

  test("! goes to the next session that needs the person", async () => {
    const { robot, screen } = await screenOn(someSessions());
    await robot.press("G", "g", "!");
    expect(screen.view.selected).toBe("statefile:bbbbbbbb");
  });
});

describe("drawing", () => {
  test("an idle screen draws no frame and writes no byte", async () => {
    const { robot, store } = await screenOn(someSessions(), { cols: 160, rows: 50 });
    // The session beside the list is opened a moment after it is selected.
    await robot.see("following");
    await robot.settle();
    expect([...store.getState().sessions.values()].some((one) => one.status === "working")).toBe(false);
    const { frames, bytes } = robot;
    // Longer than every gathering time and a turn of the spinner.
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect([robot.frames - frames, robot.bytes - bytes]).toEqual([0, 0]);
  });

  test("one session's change draws one row", async () => {
    const dir = someSessions();
    const { robot, store } = await screenOn(dir);
    await robot.settle();
    const others = ["statefile:bbbbbbbb", "statefile:cccccccc"].map((key) => store.getState().sessions.get(key));
    rowsDrawn.count = 0;
    appendFileSync(join(dir, "aaaaaaaa.state"), records(turn(93, "question 31", "answer 31"), 93));
    await until(() => store.getState().sessions.get("statefile:aaaaaaaa")?.messages === 31);
    await robot.settle();
    expect(rowsDrawn.count).toBe(1);
    expect(["statefile:bbbbbbbb", "statefile:cccccccc"].map((key) => store.getState().sessions.get(key))).toEqual(
      others,
    );
  });

  test.each(SIZES)("no session and no directory is said with what to do, at $cols×$rows", async ({ cols, rows }) => {
    const nowhere = join(temporaryDirectory(), "not-there");
    const { robot } = await screenOn(nowhere, { cols, rows });
    await robot.see("No sessions yet.");
    await robot.see("forktail demo");
    await robot.press("Enter");
    await robot.see("not now: no session is selected");
    await robot.press("P");
    await until(() => robot.screen().join(" ").replace(/\s+/gu, " ").includes("no such directory"));
    expect(existsSync(nowhere)).toBe(false);
  });

  test.each(SIZES)("hostile titles keep the columns, at $cols×$rows", async ({ cols, rows }) => {
    const dir = temporaryDirectory();
    const hostile = [
      "\x1b[2J\x1b[H\x1b]0;pwned\x07 clears the screen",
      "日本語のタイトルはとても長いので切らなければならない。日本語のタイトルはとても長い",
      "👩‍💻🏳️‍🌈👍🏽 emoji of many parts 👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦",
      "\u202eright to left \u2066isolated עברית العربية",
      "tab\there and\r\nthere \u009b31m red",
      `combining ${"e\u0301\u0302\u0303".repeat(60)}`,
    ];
    for (const [n, title] of hostile.entries()) {
      const reply: Draft[] = turn(
        6,
        title,
        `${title}\n\n\`\`\`\n${title}\n\`\`\`\n\n| ${title} | b |\n|---|---|\n| 1 | ${title} |`,
      );
      writeSession(dir, `${n}`.repeat(8), [...finished(title, title), ...reply]);
    }
    const { robot, screen } = await screenOn(dir, { cols, rows });
    await until(() => screen.rows().keys.length === hostile.length);
    await robot.settle();
    const edge = cols >= 100 ? screen.list.width : cols;
    for (const line of robot
      .screen()
      .slice(1, 1 + hostile.length * 2)
      .filter((_, n) => n % 2 === 0)) {
      expect(line.length).toBeGreaterThan(0);
    }
    // The age (`2mo`, by the records' own times) stands at the right edge of each title's line.
    for (let row = 1; row < 1 + hostile.length * 2; row += 2) {
      expect(robot.cell(edge - 1, row).text, robot.screen()[row]).toBe("o");
    }
    for (const key of screen.rows().keys) {
      screen.select(key);
      await robot.press("Enter");
      await until(() => screen.entry() !== null);
      await robot.press("z", "g", "G", "Tab", "Tab", "Tab", "Tab", "w", "Escape", "y", "Escape", "Escape", "Escape");
      await until(() => screen.place() === "list");
    }
    expect(robot.terminal.text()).not.toContain("pwned\x07");
  });
});
