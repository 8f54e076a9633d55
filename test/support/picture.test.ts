import { expect, test } from "vitest";
import { DARK, LIGHT, pngOf, svgOf } from "./picture.ts";
import { VirtualTerminal } from "./virtual-terminal.ts";

async function screen(bytes: string): Promise<VirtualTerminal> {
  const terminal = new VirtualTerminal(20, 3, { lineDiscipline: true });
  await terminal.write(bytes);
  return terminal;
}

test("a picture has the words, their colours and their weights", async () => {
  const svg = svgOf(await screen("\x1b[1;31mred\x1b[0m plain \x1b[2mdim\x1b[0m\n<&>"), { title: "a <title>" });
  expect(svg).toMatch(new RegExp(`fill="${DARK.ansi[9]}"[^>]*font-weight="bold">red</text>`));
  expect(svg).toMatch(new RegExp(`fill="${DARK.foreground}"[^>]*> plain</text>`));
  expect(svg).toMatch(/opacity="0.6">dim<\/text>/);
  expect(svg).toContain("&lt;&amp;&gt;");
  expect(svg).toContain("a &lt;title&gt;");
});

test("inverse swaps the colours, true colours and the 256 are themselves", async () => {
  const svg = svgOf(await screen("\x1b[7mab\x1b[0m\x1b[38;2;1;2;3mc\x1b[48;5;208md\x1b[0m"), { palette: LIGHT });
  expect(svg).toContain(`fill="${LIGHT.foreground}"/>`);
  expect(svg).toMatch(new RegExp(`fill="${LIGHT.background}"[^>]*>ab</text>`));
  expect(svg).toMatch(/fill="#010203"[^>]*>c</);
  expect(svg).toMatch(/<rect [^>]*fill="#ff8700"/);
});

test("a wide character stands in its two cells, and what follows it in its own", async () => {
  const svg = svgOf(await screen("日x"));
  const x = (text: string) => Number(new RegExp(`x="([0-9.]+)"[^>]*>${text}<`).exec(svg)?.[1]);
  expect(x("日")).toBe(0);
  expect(x("x")).toBeCloseTo(2 * 8.43);
});

test("a picture becomes a PNG of twice its size", async () => {
  const png = pngOf(svgOf(await screen("hello ─│╭ ▁█")), 2);
  expect(png.subarray(1, 4).toString("latin1")).toBe("PNG");
  expect(png.readUInt32BE(16)).toBe(2 * Math.ceil(20 * 8.43 + 28));
});
