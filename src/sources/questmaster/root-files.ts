import { join } from "node:path";
import * as z from "zod";
import { CannotOpen } from "../../files/open.ts";
import { readSmallFile, TooLarge } from "./read-small.ts";

const text = z.string().default("");

const artifact = z.object({
  kind: text,
  path: text,
  label: text,
  session_id: text,
  project_id: text,
  added_at: text,
});

const quest = z.object({
  id: text,
  content: text,
  project_id: text,
  project_path: text,
  project_name: text,
  created_at: text,
  updated_at: text,
  session_id: text,
});

const repoColor = z.object({ color: text, updated_at: text });

/** A file an agent showed (≥ v0.3.41), in the file's own keys. Untrusted. */
export type Artifact = z.infer<typeof artifact>;
/** A note of work to do (≥ v0.3.44), in the file's own keys. Untrusted. */
export type Quest = z.infer<typeof quest>;
/** The colour of a repository (≥ v0.3.23), in the file's own keys. */
export type RepoColor = z.infer<typeof repoColor>;

/** The artifacts of a root, or of a session's own directory; what cannot be read is an empty list. */
export function readArtifacts(directory: string): Artifact[] {
  return readList(join(directory, "artifacts.json"), "artifacts", artifact);
}

export function readQuests(root: string): Quest[] {
  return readList(join(root, "quests.json"), "quests", quest);
}

/** Repository (its common git directory) → colour. What cannot be read is empty. */
export function readRepoColors(root: string): Map<string, RepoColor> {
  const value = readValue(join(root, "repo-colors.json"));
  const colors = new Map<string, RepoColor>();
  for (const [repo, raw] of Object.entries(value ?? {})) {
    const parsed = repoColor.safeParse(raw);
    if (parsed.success) colors.set(repo, parsed.data);
  }
  return colors;
}

function readList<T>(path: string, key: string, shape: z.ZodType<T>): T[] {
  const list = readValue(path)?.[key];
  if (!Array.isArray(list)) return [];
  return list.flatMap((one: unknown) => {
    const parsed = shape.safeParse(one);
    return parsed.success ? [parsed.data] : [];
  });
}

function readValue(path: string): Record<string, unknown> | null {
  try {
    const parsed = z.record(z.string(), z.unknown()).safeParse(JSON.parse(readSmallFile(path).text));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (error instanceof CannotOpen || error instanceof TooLarge || error instanceof SyntaxError) return null;
    throw error;
  }
}
