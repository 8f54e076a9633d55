import { basename } from "node:path";
import type { Session } from "./session.ts";

/** What a session's row says of its agent, where need be read out of `cmd` (herrscher.md §2, §8). */
export interface Invocation {
  /** `claude`, `codex`, `cursor` or a plugin's kind; null when neither vendor nor cmd tells. */
  vendor: string | null;
  model: string | null;
  effort: string | null;
}

const VENDOR_OF_BINARY: Record<string, string> = { claude: "claude", codex: "codex", "cursor-agent": "cursor" };

export function invocation(session: Pick<Session, "vendor" | "cmd" | "modelID">): Invocation {
  const words = session.cmd.split(/\s+/u).filter((word) => word !== "");
  const binary = basename(words[0] ?? "");
  const inferred = Object.hasOwn(VENDOR_OF_BINARY, binary) ? (VENDOR_OF_BINARY[binary] ?? null) : null;
  return {
    vendor: session.vendor || inferred,
    model: session.modelID || option(words, "--model") || null,
    effort: option(words, "--effort") || configuredEffort(words) || null,
  };
}

/** `--flag value` or `--flag=value`. */
function option(words: readonly string[], flag: string): string {
  const joined = words.find((word) => word.startsWith(`${flag}=`));
  if (joined !== undefined) return joined.slice(flag.length + 1);
  const at = words.indexOf(flag);
  return at < 0 ? "" : (words[at + 1] ?? "");
}

/** Codex takes its effort as `-c model_reasoning_effort=high`. */
function configuredEffort(words: readonly string[]): string {
  const found = words.find((word) => word.startsWith("model_reasoning_effort="));
  return found?.slice("model_reasoning_effort=".length).replaceAll('"', "") ?? "";
}
