import { isValidPartyID } from "./ids.ts";

/** What a name in the state root is (questmaster.md §3). Only the name is looked at. */
export type RootEntry =
  | { kind: "manifest"; id: string }
  /** Looks like a session's name but fails the id pattern: reported, never opened, never given to tmux. */
  | { kind: "bad-id" }
  | { kind: "session"; id: string }
  | { kind: "lock" | "temporary" | "repo-colors" | "artifacts" | "quests" | "other" };

const ROOT_FILES: Record<string, RootEntry> = {
  "artifacts.json": { kind: "artifacts" },
  "quests.json": { kind: "quests" },
  "repo-colors.json": { kind: "repo-colors" },
};

export function classify(name: string): RootEntry {
  const known = Object.hasOwn(ROOT_FILES, name) ? ROOT_FILES[name] : undefined;
  if (known) return known;
  if (name.startsWith(".")) return { kind: "other" };
  if (name.endsWith(".lock")) return { kind: "lock" };
  if (name.endsWith(".tmp")) return { kind: "temporary" };
  if (name.endsWith(".json")) {
    const id = name.slice(0, -".json".length);
    if (isValidPartyID(id)) return { kind: "manifest", id };
    return { kind: /^(?:party|qm)-/u.test(id) ? "bad-id" : "other" };
  }
  return isValidPartyID(name) ? { kind: "session", id: name } : { kind: "other" };
}
