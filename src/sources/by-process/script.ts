import { basename } from "node:path";

const RUNTIME = /^(?:node|nodejs|bun)[\d.]*$/u;

/** What a runtime was given: behind its own options the script, then that one's arguments. null: it is no runtime. */
export function scriptOf([program = "", ...rest]: readonly string[]): { script: string; args: string[] } | null {
  if (!RUNTIME.test(basename(program))) return null;
  const at = rest.findIndex((arg) => !arg.startsWith("-"));
  return at < 0 ? null : { script: rest[at] ?? "", args: rest.slice(at + 1) };
}
