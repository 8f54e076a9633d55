import { isPatch } from "./diff.ts";
import { jsonSummary } from "./json.ts";
import { printableLine } from "./printable.ts";

/** Arguments by name. Some tools record them as JSON text, some a bare string. */
export type Arguments = Record<string, unknown>;

/** Longer argument text is not parsed to be summed up. */
const MOST_PARSED = 4 * 1024 * 1024;

/** The arguments as an object; a bare string becomes `input`. */
export function argumentsOf(args: unknown): Arguments {
  if (isRecord(args)) return args;
  if (Array.isArray(args)) return { arguments: args };
  if (typeof args !== "string") return args === undefined || args === null ? {} : { value: args };
  if (args.length <= MOST_PARSED && args.trimStart().startsWith("{")) {
    try {
      const parsed: unknown = JSON.parse(args);
      if (isRecord(parsed)) return parsed;
    } catch {
      // Not JSON after all (or its end is still to come): then it is what it is, text.
    }
  }
  return args === "" ? {} : { input: args };
}

function isRecord(value: unknown): value is Arguments {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const COMMAND = ["command", "cmd", "script"];
const PATH = ["file_path", "filePath", "path", "file", "filename", "notebook_path", "absolute_path", "dir_path"];
const PATTERN = ["pattern", "query", "regex", "q", "glob"];
const OTHER = ["url", "description", "prompt", "message", "task", "title", "question", "name", "input", "text", "id"];

/** What a call is about, in one line: its command, its pattern and path, or its arguments in short. */
export function summaryOf(args: unknown): { main: string; aside: string } {
  const named = argumentsOf(args);
  const command = commandOf(named);
  if (command !== null) return { main: printableLine(firstPart(command)), aside: "" };
  const pattern = textOf(named, PATTERN);
  const path = textOf(named, PATH);
  if (pattern !== null) return { main: pattern, aside: path ?? "" };
  if (path !== null) return { main: path, aside: "" };
  const other = textOf(named, OTHER);
  if (other !== null && !isPatch(String(named.input ?? ""))) return { main: other, aside: "" };
  const files = editsOf(args)?.flatMap((edit) => (edit.path === "" ? [] : [edit.path])) ?? [];
  return { main: files.length > 0 ? files.join(", ") : jsonSummary(named), aside: "" };
}

/** A glance is enough of a script of a megabyte. */
function firstPart(text: string): string {
  return text.slice(0, 2000);
}

function textOf(named: Arguments, keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = named[key];
    if (typeof value === "string" && value !== "") return printableLine(firstPart(value));
  }
  return null;
}

/** The shell command of a call, whole; null when it has none. */
export function commandOf(named: Arguments): string | null {
  for (const key of COMMAND) {
    const value = named[key];
    if (typeof value === "string" && value !== "") return value;
    if (Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === "string"))
      return shown(value);
  }
  return null;
}

/** The arguments besides the command, or besides the bare string that was all there was. */
export function withoutScript(named: Arguments): Arguments {
  const shown = [...COMMAND, "input"].find((key) => named[key] !== undefined);
  return Object.fromEntries(Object.entries(named).filter(([key]) => key !== shown));
}

/** `["bash", "-lc", script]` is the script. */
function shown(argv: string[]): string {
  const script = argv[2];
  const shell = /(?:^|\/)(?:ba|z|da|k)?sh$/u.test(argv[0] ?? "") && /^-[a-z]*c$/u.test(argv[1] ?? "");
  return shell && argv.length === 3 && script !== undefined ? script : argv.join(" ");
}

/** A change of a file that a call asks for. */
export type Edit =
  | { kind: "replace"; path: string; before: string; after: string }
  | { kind: "write"; path: string; content: string }
  | { kind: "patch"; path: string; patch: string };

const BEFORE = ["old_string", "oldString", "old_str", "oldText", "old_text", "old"];
const AFTER = ["new_string", "newString", "new_str", "newText", "new_text", "new"];
const CONTENT = ["content", "contents", "file_text"];
const PATCH = ["patch", "diff", "patchText", "input"];
/** Most edits of one call that are looked at. */
const MOST_EDITS = 200;

/** The edits in a call's arguments, null when it edits nothing. */
export function editsOf(args: unknown): Edit[] | null {
  const named = argumentsOf(args);
  const path = textOf(named, PATH) ?? "";
  const many = named.edits;
  if (Array.isArray(many)) {
    const edits = many
      .slice(0, MOST_EDITS)
      .flatMap((edit: unknown) => (isRecord(edit) ? (replacement(edit, path) ?? []) : []));
    if (edits.length > 0) return edits;
  }
  const one = replacement(named, path);
  if (one) return [one];
  const patch = patchOf(named);
  if (patch !== null) return [{ kind: "patch", path: patchedFiles(patch), patch }];
  const content = rawText(named, CONTENT);
  return content !== null && path !== "" ? [{ kind: "write", path, content }] : null;
}

function replacement(named: Arguments, path: string): Edit | null {
  const before = rawText(named, BEFORE);
  const after = rawText(named, AFTER);
  if (before === null || after === null) return null;
  return { kind: "replace", path: textOf(named, PATH) ?? path, before, after };
}

function rawText(named: Arguments, keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = named[key];
    if (typeof value === "string") return value;
  }
  return null;
}

/** A patch as an argument, as the second word of a command, or in a command's here-document. */
function patchOf(named: Arguments): string | null {
  const direct = rawText(named, PATCH);
  if (direct !== null && isPatch(direct)) return direct;
  for (const key of COMMAND) {
    const value = named[key];
    const words: unknown[] = Array.isArray(value) ? value : [value];
    for (const word of words) {
      if (typeof word !== "string") continue;
      const begin = word.indexOf("*** Begin Patch");
      const end = begin === -1 ? -1 : word.indexOf("*** End Patch", begin);
      if (begin !== -1) return word.slice(begin, end === -1 ? undefined : end);
    }
  }
  return null;
}

function patchedFiles(patch: string): string {
  const files: string[] = [];
  for (const match of patch.matchAll(/^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b\/)?)([^\n\t]{1,500})/gmu)) {
    files.push(printableLine(match[1] ?? ""));
    if (files.length >= 8) break;
  }
  return files.join(", ");
}
