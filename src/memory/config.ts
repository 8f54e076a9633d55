import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { findNodeAtLocation, getNodeValue, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { z } from "zod";

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

/** The config file: JSON with comments, every field optional. Its JSON schema is made from this. */
export const configShape = z.strictObject({
  $schema: z.string().optional(),
  /** Directories by source; they replace that source's default places. */
  roots: z.record(z.string(), z.array(z.string()).min(1)).optional(),
  theme: z.enum(THEMES).optional(),
  /** Glyphs from ASCII only. */
  ascii: z.boolean().optional(),
  /** No animation. */
  still: z.boolean().optional(),
  /** Never watch, always poll. */
  poll: z.boolean().optional(),
  /** Wheel and clicks; the terminal's own text selection then needs Shift. */
  mouse: z.boolean().optional(),
  /** Where `r` opens a session inside tmux. */
  resumeIn: z.enum(["split", "window", "here"]).optional(),
  /** Keys by action: `{"session.fork": ["F"]}` replaces the default ones. */
  keys: z.record(z.string(), z.array(z.string()).min(1)).optional(),
});

export type Config = z.infer<typeof configShape>;

/** The file is there but cannot be used; the message names file and line and what is wrong. */
export class BadConfig extends Error {
  override name = "BadConfig";
}

/** The config, or an empty one when there is no file. Throws `BadConfig`. Relative roots are taken from the file's folder. */
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
  const absolute = Object.entries(roots).map(([source, dirs]) => [source, dirs.map((dir) => resolve(base, dir))]);
  return { ...config, roots: Object.fromEntries(absolute) };
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
