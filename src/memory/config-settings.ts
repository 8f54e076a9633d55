import { readFileSync } from "node:fs";
import { findNodeAtLocation, type Node, parseTree } from "jsonc-parser";
import * as z from "zod";
import { type Config, configShape } from "./config.ts";

/** One value that counts, and who says so. */
export interface Setting {
  /** Dotted: `notices.bell`, `keys.session.fork`. */
  name: string;
  /** undefined: left to the moment (the locale, being inside tmux). */
  value: unknown;
  from: "default" | "file" | "flag" | "environment";
  /** `config.json:12`, `--poll`, `NO_COLOR`; null for a default. */
  where: string | null;
}

/** What wins over the config file. */
export interface Overrides {
  poll?: boolean | undefined;
  /** `NO_COLOR` or a dumb terminal, in words; null: colours are allowed. */
  colourless: string | null;
}

/** All settings but the roots, in the order of the config's shape. `text` null: there is no file. */
export function configSettings(config: Config, text: string | null, path: string, overrides: Overrides): Setting[] {
  const lines = new LinesOf(text, path);
  const settings = leaves(configShape, []).map((leaf): Setting => {
    const name = leaf.path.join(".");
    if (name === "poll" && overrides.poll) return { name, value: true, from: "flag", where: "--poll" };
    if (name === "theme" && overrides.colourless !== null)
      return { name, value: "none", from: "environment", where: overrides.colourless };
    const where = lines.of(leaf.path);
    if (where !== null) return { name, value: valueAt(config, leaf.path), from: "file", where };
    return { name, value: leaf.fallback, from: "default", where: null };
  });
  const keys = Object.entries(config.keys ?? {}).map(
    ([id, value]): Setting => ({ name: `keys.${id}`, value, from: "file", where: lines.of(["keys", id]) }),
  );
  return [...settings, ...keys];
}

/** The file's text, null when there is none. It was read before: what is wrong with it was said then. */
export function configText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** Where in the file a name is set, as `path:line`. */
export class LinesOf {
  readonly #text: string;
  readonly #path: string;
  readonly #tree: Node | undefined;

  constructor(text: string | null, path: string) {
    this.#text = text ?? "";
    this.#path = path;
    this.#tree = parseTree(this.#text, [], { allowTrailingComma: true });
  }

  of(names: readonly string[]): string | null {
    const node = this.#tree && findNodeAtLocation(this.#tree, [...names]);
    if (!node) return null;
    return `${this.#path}:${this.#text.slice(0, (node.parent ?? node).offset).split("\n").length}`;
  }
}

interface Leaf {
  path: string[];
  fallback: unknown;
}

/** Named by the shape itself, so that no setting can be forgotten here. Maps with names of the person's own are not. */
function leaves(shape: z.ZodObject, path: readonly string[]): Leaf[] {
  return Object.entries(shape.shape).flatMap(([name, field]) => {
    const inner = field instanceof z.ZodOptional ? field.unwrap() : field;
    if (name === "$schema" || inner instanceof z.ZodRecord) return [];
    if (inner instanceof z.ZodObject) return leaves(inner, [...path, name]);
    const meta = field instanceof z.ZodType ? field.meta() : undefined;
    return [{ path: [...path, name], fallback: meta?.default }];
  });
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const name of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}
