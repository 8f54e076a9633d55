/** Raw colours of a theme: names of the terminal's own sixteen, or #rrggbb. `null` is the terminal's default. */
export interface Palette {
  text: string | null;
  faint: string | null;
  accent: string;
  good: string;
  warn: string;
  bad: string;
  code: string;
  heading: string;
  link: string;
  user: string;
  tool: string;
  held: string;
  broken: string;
  /** Behind added and removed lines; null for none. */
  addedBack: string | null;
  removedBack: string | null;
}

export type Background = "dark" | "light";

/** One look in the two depths of colour. */
export interface PalettePair {
  background: Background;
  /** Only the terminal's own colours: its owner chose them to be readable. */
  sixteen: Palette;
  full: Palette;
}

const DARK_SIXTEEN: Palette = {
  text: null,
  faint: null,
  accent: "cyan",
  good: "green",
  warn: "yellow",
  bad: "red",
  code: "cyan",
  heading: "blue",
  link: "blue",
  user: "magenta",
  tool: "blue",
  held: "blue",
  broken: "magenta",
  addedBack: null,
  removedBack: null,
};

/** Cyan and yellow vanish on white: blue and magenta take their place. */
const LIGHT_SIXTEEN: Palette = {
  ...DARK_SIXTEEN,
  accent: "blue",
  warn: "magenta",
  code: "blue",
  user: "magenta",
};

/** Blue for well and yellow for not: nothing hangs on red against green. */
const SAFE_DARK_SIXTEEN: Palette = { ...DARK_SIXTEEN, good: "cyanBright", bad: "yellowBright", warn: "yellow" };
const SAFE_LIGHT_SIXTEEN: Palette = { ...LIGHT_SIXTEEN, good: "blue", bad: "red", warn: "magenta" };

const STARK_DARK_SIXTEEN: Palette = {
  text: "whiteBright",
  faint: "white",
  accent: "cyanBright",
  good: "greenBright",
  warn: "yellowBright",
  bad: "redBright",
  code: "cyanBright",
  heading: "whiteBright",
  link: "cyanBright",
  user: "magentaBright",
  tool: "yellowBright",
  held: "cyanBright",
  broken: "magentaBright",
  addedBack: null,
  removedBack: null,
};

const STARK_LIGHT_SIXTEEN: Palette = {
  ...STARK_DARK_SIXTEEN,
  text: "black",
  faint: "black",
  accent: "blue",
  good: "black",
  warn: "magenta",
  bad: "red",
  code: "blue",
  heading: "black",
  link: "blue",
  user: "magenta",
  tool: "blue",
  held: "blue",
  broken: "magenta",
};

const DARK_FULL: Palette = {
  text: "#d8dee9",
  faint: "#8b95a7",
  accent: "#7fd0e0",
  good: "#9ece6a",
  warn: "#e6c26a",
  bad: "#ff7a85",
  code: "#c5d1a5",
  heading: "#8ab4f8",
  link: "#7aa8f0",
  user: "#d2a6ff",
  tool: "#86b7ff",
  held: "#7aa8f0",
  broken: "#d69bd6",
  addedBack: "#16321f",
  removedBack: "#3b1d22",
};

const LIGHT_FULL: Palette = {
  text: "#24292f",
  faint: "#636b75",
  accent: "#04687d",
  good: "#1a6b2f",
  warn: "#855400",
  bad: "#b31526",
  code: "#4d5a13",
  heading: "#0a4fb0",
  link: "#0a58c4",
  user: "#6f3bb5",
  tool: "#0b5cad",
  held: "#0a58c4",
  broken: "#8a2f8a",
  addedBack: "#ddf5e2",
  removedBack: "#fde3e5",
};

// Blue against orange after Okabe and Ito, who made them to be told apart by everyone.
const SAFE_DARK_FULL: Palette = {
  ...DARK_FULL,
  accent: "#56b4e9",
  good: "#56b4e9",
  warn: "#f0e442",
  bad: "#f29b3f",
  user: "#e0a3c8",
  broken: "#cc79a7",
  addedBack: "#10293b",
  removedBack: "#3a2710",
};

const SAFE_LIGHT_FULL: Palette = {
  ...LIGHT_FULL,
  accent: "#005a8c",
  good: "#005a8c",
  warn: "#6b5b00",
  bad: "#a34400",
  user: "#8f3f6c",
  broken: "#8f3f6c",
  addedBack: "#dcecf7",
  removedBack: "#fae8d4",
};

const STARK_DARK_FULL: Palette = {
  text: "#ffffff",
  faint: "#d0d0d0",
  accent: "#00ffff",
  good: "#5cff5c",
  warn: "#ffff00",
  bad: "#ff8f8f",
  code: "#a8ffff",
  heading: "#ffffff",
  link: "#8fd0ff",
  user: "#ffb3ff",
  tool: "#ffff8a",
  held: "#8fd0ff",
  broken: "#ffa0ff",
  addedBack: null,
  removedBack: null,
};

const STARK_LIGHT_FULL: Palette = {
  text: "#000000",
  faint: "#3a3a3a",
  accent: "#003d66",
  good: "#00470f",
  warn: "#5c3a00",
  bad: "#8a0010",
  code: "#003d4d",
  heading: "#000000",
  link: "#0000a8",
  user: "#4b0082",
  tool: "#00308f",
  held: "#0000a8",
  broken: "#5e005e",
  addedBack: null,
  removedBack: null,
};

/** All looks there are, by name. */
export const PALETTES = {
  dark: { background: "dark", sixteen: DARK_SIXTEEN, full: DARK_FULL },
  light: { background: "light", sixteen: LIGHT_SIXTEEN, full: LIGHT_FULL },
  "contrast-dark": { background: "dark", sixteen: STARK_DARK_SIXTEEN, full: STARK_DARK_FULL },
  "contrast-light": { background: "light", sixteen: STARK_LIGHT_SIXTEEN, full: STARK_LIGHT_FULL },
  "colourblind-dark": { background: "dark", sixteen: SAFE_DARK_SIXTEEN, full: SAFE_DARK_FULL },
  "colourblind-light": { background: "light", sixteen: SAFE_LIGHT_SIXTEEN, full: SAFE_LIGHT_FULL },
} as const satisfies Record<string, PalettePair>;

export type PaletteName = keyof typeof PALETTES;

export function isPaletteName(name: string): name is PaletteName {
  return Object.hasOwn(PALETTES, name);
}
