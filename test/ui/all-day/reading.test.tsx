import { appendFileSync, chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BEGINNING, type Draft, records, turn, turnWithCall, writeSession } from "../../support/state-writer.ts";
import { makeDirectory, temporaryDirectory } from "../../support/temp.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { until } from "../../support/until.ts";
import { screenOn } from "../screen-robot.ts";
import { SIZES, words } from "./sizes.ts";

const REPLY = "See [the docs](https://example.org/docs).\n\n```sh\nnpm run fix\nnpm test\n```\n\nThat is all.";

function sessions(): string {
  const dir = temporaryDirectory();
  writeSession(dir, "aaaaaaaa", [
    ...BEGINNING,
    ...turnWithCall(3, "Run the linter", "npm run lint", "3 problems\n".repeat(40), 1),
    ...turn(10, "And how do I fix them?", REPLY),
  ]);
  return dir;
}

/** A turn in which a file is edited. */
function edit(n: number, path: string, text: string): Draft[] {
  const [message, ...rest] = turnWithCall(n, "Change the file", "", "edited");
  const args = JSON.stringify({ name: "edit", arguments: { path, old: "x", new: text } });
  return [message, ...rest].flatMap((draft) =>
    draft ? [draft.kind === "call" ? { ...draft, body: args } : draft] : [],
  );
}

describe.each(SIZES)("reading at $cols×$rows", ({ cols, rows }) => {
  test("z goes through outline, what was said, everything", async () => {
    const { robot } = await screenOn(sessions(), { cols, rows });
    await robot.press("g", "Enter");
    await robot.see("That is all.");
    const problems = (): number => robot.screen().filter((line) => line.includes("3 problems")).length;
    await robot.press("z");
    await robot.see("showing everything");
    await robot.press("z");
    await robot.see("showing outline");
    // A reply is one row, its blocks of code run on.
    await robot.seeNo(/^.*│ npm test/mu);
    expect(problems()).toBeLessThanOrEqual(1);
    await robot.press("z");
    await robot.see("showing what was said");
    await robot.see("That is all.");
  });

  test("scrolled up it stays, says how much is new below, and G follows again", async () => {
    const dir = sessions();
    const { robot } = await screenOn(dir, { cols, rows });
    await robot.press("g", "Enter");
    await robot.see("following");
    await robot.press("g");
    await robot.seeNo("following");
    appendFileSync(join(dir, "aaaaaaaa.state"), records(turn(13, "One more", "The newest answer."), 13));
    await robot.see("3 new below");
    await robot.press("G");
    await robot.see("The newest answer.");
    await robot.see("following");
  });

  test("y offers the entry's code block, and what it copies reaches the terminal", async () => {
    const { robot, screen, asked } = await screenOn(sessions(), { cols, rows });
    await robot.press("g", "Enter");
    await robot.see("That is all.");
    await until(() => screen.entry() !== null);
    await robot.press("[", "y");
    await robot.see("code block");
    await robot.see("Enter choose");
    await robot.press("2");
    await until(() => words(robot.screen()).includes("code block copied to the terminal"));
    const encoded = /\x1b\]52;c;([^\x07]*)\x07/u.exec(String(asked.written.read()))?.[1] ?? "";
    expect(Buffer.from(encoded, "base64").toString()).toBe("npm run fix\nnpm test\n");
  });

  test("links are the terminal's own, and lead where the text says", async () => {
    const { robot } = await screenOn(sessions(), { cols, rows });
    const links: string[] = [];
    robot.terminal.terminal.parser.registerOscHandler(8, (data) => {
      links.push(data);
      return false;
    });
    await robot.press("g", "Enter");
    await robot.see("the docs");
    // Beside the list it may have been drawn before anybody listened: it is drawn anew.
    links.length = 0;
    await robot.resize(cols - 1, rows);
    await until(() => links.includes(";https://example.org/docs"));
    await robot.settle();
    expect(links.filter((link) => link === ";")).toHaveLength(links.filter((link) => link !== ";").length);
  });

  test("o opens an edit's file at its line, and says what is missing", async () => {
    const home = temporaryDirectory();
    const bin = makeDirectory(home, "bin");
    writeFileSync(join(bin, "vim"), "#!/bin/sh\n");
    chmodSync(join(bin, "vim"), 0o755);
    const file = join(home, "edited.txt");
    writeFileSync(file, "one\ntwo\nthe new text\nfour\n");
    const dir = temporaryDirectory();
    writeSession(dir, "aaaaaaaa", [
      ...BEGINNING,
      ...edit(3, file, "the new text"),
      ...edit(10, join(home, "gone.txt"), "y"),
    ]);
    const env = { PATH: bin, EDITOR: "vim" };
    const { robot, screen, asked, place } = await screenOn(dir, { cols, rows, env });
    await robot.press("o");
    await until(() => asked.ran.length === 1);
    expect(asked.ran[0]?.argv).toEqual(["vim", join(dir, "aaaaaaaa.state")]);
    await robot.press("Enter");
    await until(() => screen.entry() !== null);
    const toCall = async (): Promise<void> => {
      do {
        const before = screen.entry();
        await robot.press("[");
        await until(() => screen.entry() !== before);
      } while (screen.entry()?.kind !== "call");
    };
    await toCall();
    await robot.press("o");
    await until(() => words(robot.screen()).replaceAll(" ", "").includes("gone.txtisnotonthismachine"));
    await toCall();
    await robot.press("o");
    await until(() => asked.ran.length === 2);
    expect(asked.ran[1]?.argv).toEqual(["vim", "+3", file]);
    place.env.PATH = "/nowhere";
    await robot.press("o");
    await until(() => words(robot.screen()).includes("no editor: set $EDITOR to one that is on PATH"));
  });

  test("X writes the transcript in three formats, and overwrites nothing", async () => {
    const dir = sessions();
    const out = temporaryDirectory();
    const before = treeHash(dir);
    const { robot } = await screenOn(dir, { cols, rows });
    const exportTo = async (choice: string, path: string): Promise<void> => {
      await robot.press("X");
      await robot.see("export as");
      await robot.press(choice);
      await robot.see("write it to");
      await robot.press("ctrl+u");
      await robot.type(path);
      // However long the path, its end and the cursor are in sight.
      await robot.see(path.slice(-12));
      await robot.press("Enter");
    };
    for (const [n, format] of ["md", "html", "json"].entries()) {
      const path = join(out, `session.${format}`);
      await exportTo(String(n + 1), path);
      await until(() => existsSync(path) && readFileSync(path, "utf8").includes("npm run fix"));
      await robot.see("exported:");
    }
    expect(readFileSync(join(out, "session.html"), "utf8")).not.toContain("<script");
    const { ".": _, ...kept } = treeHash(out);
    await exportTo("1", join(out, "session.md"));
    await until(() => /already|exists|there/u.test(words(robot.screen())));
    expect(treeHash(out)).toMatchObject(kept);
    expect(readdirSync(out)).toHaveLength(3);
    expect(treeHash(dir)).toEqual(before);
  });
});
