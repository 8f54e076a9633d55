import { describe, expect, it } from "vitest";
import { STATUS_NAMES, STATUSES } from "../../src/session/status.ts";
import { PALETTES, type PaletteName } from "../../src/ui/palettes.ts";
import { STYLES } from "../../src/ui/text/line.ts";
import { lookOf, resolveTheme, THEME_NAMES } from "../../src/ui/theme.ts";

const TRUE = { COLORTERM: "truecolor", TERM: "xterm-256color" };

describe("the theme", () => {
  it.each([
    [{ TERM: "xterm-256color" }, undefined, "dark", "sixteen"],
    [TRUE, undefined, "dark", "sixteen"],
    [{ ...TRUE, COLORFGBG: "15;0" }, undefined, "dark", "full"],
    [{ ...TRUE, COLORFGBG: "0;15" }, undefined, "light", "full"],
    [{ COLORFGBG: "0;default;15" }, "auto", "light", "sixteen"],
    [{ COLORFGBG: "12;8" }, "auto", "dark", "sixteen"],
    [{ COLORFGBG: "default;default" }, "auto", "dark", "sixteen"],
    [TRUE, "light", "light", "full"],
    [{ TERM: "xterm-direct" }, "dark", "dark", "full"],
    [{}, "contrast", "contrast-dark", "sixteen"],
    [{ ...TRUE, COLORFGBG: "0;15" }, "contrast", "contrast-light", "full"],
    [TRUE, "colorblind", "colourblind-dark", "full"],
    [TRUE, "COLOURBLIND-LIGHT", "colourblind-light", "full"],
    [{ ...TRUE, NO_COLOR: "1" }, "light", "none", "none"],
    [{ ...TRUE, NO_COLOR: "" }, "light", "light", "full"],
    [{ ...TRUE, TERM: "dumb" }, "auto", "none", "none"],
    [TRUE, "none", "none", "none"],
  ])("for %j and %j is %s in %s", (env, theme, name, depth) => {
    const { theme: made, problem } = resolveTheme(env, theme === undefined ? {} : { theme });
    expect([made.name, made.depth, problem]).toEqual([name, depth, null]);
  });

  it("that nobody knows is named as a problem, and another is used", () => {
    const { theme, problem } = resolveTheme({ COLORFGBG: "0;15" }, { theme: "solar" });
    expect(theme.name).toBe("light");
    expect(problem).toContain('unknown theme "solar"');
    for (const name of THEME_NAMES) expect(resolveTheme({}, { theme: name }).problem).toBeNull();
  });

  it("takes colours of one's own, and says which are none", () => {
    const { theme, problem } = resolveTheme(TRUE, { theme: "dark", colours: { good: "#00ff00", bad: "\u001b[31m" } });
    expect(theme.styles.good.color).toBe("#00ff00");
    expect(theme.styles.bad.color).toBe(PALETTES.dark.full.bad);
    expect(problem).toBe('not a colour: bad (a name like "cyan", or "#rrggbb")');
  });

  it("without colour uses none, and still tells what matters apart", () => {
    const { theme } = resolveTheme({ NO_COLOR: "1" });
    const looks = [...Object.values(theme.styles), ...Object.values(theme.tones)];
    expect(looks.some((look) => "color" in look || "backgroundColor" in look)).toBe(false);
    for (const [one, other] of [
      ["match", "text"],
      ["selected", "text"],
      ["selected", "match"],
      ["bad", "good"],
      ["added", "removed"],
      ["user", "assistant"],
      ["heading", "strong"],
      ["link", "text"],
      ["faint", "text"],
    ] as const) {
      expect(theme.styles[one], `${one} and ${other}`).not.toEqual(theme.styles[other]);
    }
    expect(theme.tones.alert).not.toEqual(theme.tones.error);
  });

  it("leaves no status to colour alone: each has a glyph of its own, in ASCII too", () => {
    expect(new Set(STATUS_NAMES.map((name) => STATUSES[name].glyph)).size).toBe(STATUS_NAMES.length);
    expect(new Set(STATUS_NAMES.map((name) => STATUSES[name].ascii)).size).toBe(STATUS_NAMES.length);
  });

  it("marks the row under the cursor and the matches by inversion in every theme", () => {
    for (const name of THEME_NAMES) {
      for (const env of [TRUE, {}]) {
        const { theme } = resolveTheme(env, { theme: name });
        expect(theme.styles.selected.inverse).toBe(true);
        expect(theme.styles.match).toMatchObject({ inverse: true, bold: true });
        for (const style of STYLES) expect(theme.styles[style]).toBeDefined();
        for (const status of STATUS_NAMES) expect(theme.tones[STATUSES[status].tone]).toBeDefined();
      }
    }
  });

  it("adds a span's own emphasis to its style's look", () => {
    const { theme } = resolveTheme({});
    expect(lookOf({ text: "x", style: "link", bold: true, strike: true }, theme)).toEqual({
      color: "blue",
      underline: true,
      bold: true,
      strikethrough: true,
    });
  });
});

describe("a palette", () => {
  const names = Object.keys(PALETTES) as PaletteName[];

  it.each(names)("%s is readable on the backgrounds it is made for", (name) => {
    const { background, full } = PALETTES[name];
    const backs = background === "dark" ? ["#000000", "#1e1e2e"] : ["#ffffff", "#f5f5f5"];
    for (const [slot, colour] of Object.entries(full)) {
      if (colour === null || slot.endsWith("Back")) continue;
      const least = name.startsWith("contrast") ? 7 : 4.5;
      for (const back of backs) expect(contrast(colour, back), `${slot} on ${back}`).toBeGreaterThanOrEqual(least);
    }
    if (full.addedBack !== null) expect(contrast(full.good, full.addedBack)).toBeGreaterThanOrEqual(4.5);
    if (full.removedBack !== null) expect(contrast(full.bad, full.removedBack)).toBeGreaterThanOrEqual(4.5);
  });

  it.each(["colourblind-dark", "colourblind-light"] as const)(
    "%s tells good from bad by more than red and green",
    (name) => {
      const { good, bad } = PALETTES[name].full;
      const blue = (colour: string) => Number.parseInt(colour.slice(5, 7), 16);
      expect(blue(good) - blue(bad)).toBeGreaterThan(100);
    },
  );
});

/** WCAG 2 contrast of two colours #rrggbb. */
function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour: string): number {
  const channel = (at: number): number => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}
