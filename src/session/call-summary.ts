import { cleanLine } from "./untrusted.ts";

/** The argument that says most about a call, by the names the tools give it, most telling first. */
const TELLING = [
  "command",
  "code",
  "cmd",
  "file_path",
  "path",
  "filePath",
  "notebook_path",
  "pattern",
  "query",
  "url",
  "prompt",
  "description",
  "question",
  "name",
  "input",
];

/** One line for a call: the tool's name and the argument that says most. Cleaned; as long as it is: callers cut. */
export function callSummary(name: string, args: unknown): string {
  const said = cleanLine(telling(args).slice(0, 2000));
  const shown = cleanLine(name) || "?";
  return said === "" ? shown : `${shown} ${said}`;
}

function telling(args: unknown): string {
  if (typeof args === "string") return args;
  if (Array.isArray(args)) return args.every((part) => typeof part === "string") ? args.join(" ") : "";
  if (typeof args !== "object" || args === null) return "";
  const fields = args as Record<string, unknown>;
  for (const name of TELLING) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (typeof value === "string" && value !== "") return value;
    if (Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === "string"))
      return value.join(" ");
  }
  const first = Object.values(fields).find((value) => typeof value === "string" && value !== "");
  return typeof first === "string" ? first : "";
}
