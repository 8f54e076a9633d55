import fastStringWidth from "fast-string-width";
import { expect, test } from "vitest";
import { VirtualTerminal } from "./virtual-terminal.ts";

test.each(["a", "é", "e\u0301", "日", "한", "🌙", "👩‍💻", "❤️", "👍🏽", "🇯🇵", "✗", "▲", "…"])(
  "%s takes as many cells as a modern terminal gives it",
  async (text) => {
    const terminal = new VirtualTerminal(20, 2);
    await terminal.write(`${text}|`);
    expect(terminal.find("|")?.x).toBe(fastStringWidth(text));
    expect(terminal.cell(0, 0).text).toBe(text);
  },
);

test("a screen that fits has no misfit, on the main screen nothing is judged", async () => {
  const terminal = new VirtualTerminal(4, 2, { lineDiscipline: true });
  await terminal.write("1\n2\n3\n");
  expect(terminal.misfit()).toBeNull();
  await terminal.write("\x1b[?1049h\x1b[Habcd\nabcd");
  expect(terminal.misfit()).toBeNull();
  await terminal.write("e");
  expect(terminal.misfit()).toContain("taller");
});
