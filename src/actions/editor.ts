import { readFileSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { onPath } from "./resume.ts";

export interface EditedFile {
  path: string;
  /** 1-based line where the new text stands, null when it is not found (any more). */
  line: number | null;
  there: boolean;
}

const PATHS = ["file_path", "path", "filePath", "notebook_path"];
const TEXTS = ["new_string", "new", "newString", "content"];
/** A larger file is opened at its beginning. */
const MOST_BYTES = 4 * 1024 * 1024;

/** The file that a call names, and where in it the call's new text stands now. Null: the call names none. */
export function editedFile(args: unknown, cwd: string | null): EditedFile | null {
  if (typeof args !== "object" || args === null) return null;
  const fields = args as Record<string, unknown>;
  const named = PATHS.map((name) => fields[name]).find((value) => typeof value === "string" && value !== "");
  if (typeof named !== "string") return null;
  const path = isAbsolute(named) || cwd === null ? named : join(cwd, named);
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return { path, line: null, there: false };
    const text = TEXTS.map((name) => fields[name]).find((value) => typeof value === "string" && value !== "");
    if (typeof text !== "string" || stats.size > MOST_BYTES) return { path, line: null, there: true };
    const content = readFileSync(path, "utf8");
    const at = content.indexOf(text);
    return { path, line: at < 0 ? null : content.slice(0, at).split("\n").length, there: true };
  } catch {
    return { path, line: null, there: false };
  }
}

/** The person's editor on a file, as an argument list. `$VISUAL`, `$EDITOR`, else vi; its own flags are kept. Null: none there. */
export function editorCommand(path: string, line: number | null, env: NodeJS.ProcessEnv): string[] | null {
  const words = (env.VISUAL || env.EDITOR || "vi").split(/\s+/u).filter((word) => word !== "");
  const program = words[0];
  if (program === undefined || !onPath(program, env)) return null;
  const name = program.split("/").at(-1) ?? "";
  if (line === null) return [...words, path];
  if (/^(code|codium|cursor|windsurf)/u.test(name)) return [...words, "--goto", `${path}:${line}`];
  if (/^(subl|hx|helix|zed)/u.test(name)) return [...words, `${path}:${line}`];
  return [...words, `+${line}`, path];
}
