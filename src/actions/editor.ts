import { onPath } from "./resume.ts";

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
