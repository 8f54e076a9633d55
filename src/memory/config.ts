import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { findNodeAtLocation, getNodeValue, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import * as z from "zod";

/** What `ui/theme.ts` offers; a test keeps the two equal. */
export const THEMES = [
  "auto",
  "dark",
  "light",
  "contrast",
  "contrast-dark",
  "contrast-light",
  "colourblind",
  "colourblind-dark",
  "colourblind-light",
  "none",
] as const;

/** How a session that needs the person is announced. */
const noticesShape = z.strictObject({
  bell: z
    .boolean()
    .optional()
    .meta({ description: "Ring the terminal's bell; tmux then marks the window.", default: true }),
  terminal: z.enum(["off", "osc9", "osc777"]).optional().meta({
    description:
      "Notice by the terminal itself: osc9 (iTerm2, WezTerm, Windows Terminal, Ghostty) or osc777 (foot, urxvt). Inside tmux it needs allow-passthrough.",
    default: "off",
  }),
  desktop: z
    .boolean()
    .optional()
    .meta({ description: "Notice of the desktop: notify-send on Linux, osascript on macOS.", default: false }),
  command: z
    .array(z.string())
    .min(1)
    .optional()
    .meta({
      description:
        "A program and its arguments to run at a notice, never through a shell. It finds FORKTAIL_KEY, FORKTAIL_STATUS, FORKTAIL_TITLE and FORKTAIL_TEXT in its environment.",
      examples: [["notify-phone", "--urgent"]],
    }),
});

export type NoticesConfig = z.infer<typeof noticesShape>;

/**
 * The config file: JSON with comments, every field optional. Its JSON schema (`assets/config.schema.json`) and the defaults
 * that `forktail config` prints are made from this.
 */
export const configShape = z.strictObject({
  $schema: z.string().optional().meta({ description: "Where this schema lies, for editors." }),
  roots: z
    .record(z.string(), z.array(z.string()).min(1))
    .optional()
    .meta({
      description:
        "Directories by source; they replace that source's default places. Relative ones are taken from the config file's folder, ~/ from the home directory.",
      examples: [{ claude: ["~/.claude", "/srv/shared/claude"] }],
    }),
  theme: z.enum(THEMES).optional().meta({
    description: "Colours. auto asks the terminal what is behind them; NO_COLOR wins over every theme.",
    default: "auto",
  }),
  ascii: z.boolean().optional().meta({
    description: "Glyphs from ASCII only. Without it, as the locale says.",
  }),
  still: z.boolean().optional().meta({ description: "No animation.", default: false }),
  poll: z.boolean().optional().meta({
    description: "Never watch, always poll: for network file systems.",
    default: false,
  }),
  mouse: z.boolean().optional().meta({
    description: "Wheel and clicks; the terminal's own text selection then needs Shift.",
    default: false,
  }),
  resumeIn: z.enum(["split", "window", "here"]).optional().meta({
    description: "Where a session is resumed. Without it: in a split inside tmux, else here.",
  }),
  notices: noticesShape.optional().meta({
    description: "How you are told that a session needs you, failed or finished, while you look elsewhere.",
  }),
  keys: z
    .record(z.string(), z.array(z.string()).min(1))
    .optional()
    .meta({
      description: "Keys by action; they replace the action's own ones. The help (?) names the actions.",
      examples: [{ "session.fork": ["F"] }],
    }),
});

export type Config = z.infer<typeof configShape>;

/** The file is there but cannot be used; the message names file and line and what is wrong. */
export class BadConfig extends Error {
  override name = "BadConfig";
}

/** The config, or an empty one when there is no file. Throws `BadConfig`. Relative roots are taken from the file's folder, `~/` from the home directory. */
export function loadConfig(path: string): Config {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw new BadConfig(`${path}: cannot be read (${error instanceof Error ? error.message : String(error)})`);
  }
  const config = parseConfig(text, path);
  const { roots } = config;
  if (!roots) return config;
  const base = dirname(path);
  const absolute = Object.entries(roots).map(([source, dirs]) => [source, dirs.map((dir) => absolutePath(base, dir))]);
  return { ...config, roots: Object.fromEntries(absolute) };
}

function absolutePath(base: string, path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : resolve(base, path);
}

export function parseConfig(text: string, path: string): Config {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const first = errors[0];
  if (first) throw new BadConfig(`${path}:${lineOf(text, first.offset)}: ${printParseErrorCode(first.error)}`);
  const parsed = configShape.safeParse(tree ? getNodeValue(tree) : {});
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const where = (issue?.path ?? []).filter((part) => typeof part !== "symbol");
  const unknown = issue?.code === "unrecognized_keys" ? issue.keys[0] : undefined;
  const node = tree && findNodeAtLocation(tree, unknown === undefined ? where : [...where, unknown]);
  const at = node ? lineOf(text, (unknown === undefined ? node : (node.parent ?? node)).offset) : 1;
  const name = [...where, ...(unknown === undefined ? [] : [unknown])].join(".") || "the file";
  throw new BadConfig(`${path}:${at}: ${name}: ${issue?.message ?? "not valid"}`);
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
