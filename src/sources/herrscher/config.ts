import { join } from "node:path";
import { listDirectory } from "../../files/list-directory.ts";
import { openIfThere } from "./transcript.ts";

/** The user's defaults, `config.json` (herrscher.md §5). Read only. */
export interface HerrscherConfig {
  cmd: string;
  healthAddr: string;
  statusChannel: string;
  instance: string;
  owner: string;
  workspace: string;
  source: string;
  home: { id: string; type: string } | null;
  /** No command uses it. */
  sessionMaxIdleDays?: number;
  skills?: Skills;
}

export interface Skills {
  /** As written. */
  enabled?: unknown;
  roots?: string[];
}

/** A durable agent, `agents/<name>/` (herrscher.md §5). */
export interface DurableAgent {
  name: string;
  backend: string;
  cmd: string;
  tags: string[];
}

const MOST_BYTES = 1024 * 1024;

/** The configuration beside a state file; null when there is none or it cannot be read as one. */
export function readConfig(dir: string): HerrscherConfig | null {
  const text = readSmall(join(dir, "config.json"));
  return text === null ? null : parseConfig(text);
}

/** JSON in which whole lines may be `//` comments; null when it is not that. */
export function parseConfig(text: string): HerrscherConfig | null {
  const bare = text
    .split("\n")
    .filter((line) => !line.trim().startsWith("//"))
    .join("\n");
  let value: unknown;
  try {
    value = JSON.parse(bare);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const fields: Record<string, unknown> = { ...value };
  const home = typeof fields.home === "object" && fields.home !== null ? { ...fields.home } : null;
  return {
    cmd: asString(fields.cmd),
    healthAddr: asString(fields.healthAddr),
    statusChannel: asString(fields.statusChannel),
    instance: asString(fields.instance),
    owner: asString(fields.owner),
    workspace: asString(fields.workspace),
    source: asString(fields.source),
    home: home === null ? null : { id: asString(Reflect.get(home, "id")), type: asString(Reflect.get(home, "type")) },
    ...(typeof fields.sessionMaxIdleDays === "number" ? { sessionMaxIdleDays: fields.sessionMaxIdleDays } : {}),
    ...skillsOf(fields.skills),
  };
}

function skillsOf(value: unknown): { skills?: Skills } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  const { enabled, roots }: Record<string, unknown> = { ...value };
  const named = Array.isArray(roots) ? roots.filter((root): root is string => typeof root === "string") : undefined;
  return {
    skills: { ...(enabled === undefined ? {} : { enabled }), ...(named === undefined ? {} : { roots: named }) },
  };
}

/** The durable agents of a root, by name. */
export async function readAgents(dir: string): Promise<DurableAgent[]> {
  const listing = await listDirectory(join(dir, "agents"));
  if (!listing.ok) return [];
  const names = listing.entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return names.map((name) => {
    const file = (of: string): string => readSmall(join(dir, "agents", name, of))?.trim() ?? "";
    const tags = file("TAGS")
      .toLowerCase()
      .split(/[\s,]+/u)
      .filter((tag) => tag !== "");
    return { name, backend: file("backend"), cmd: file("cmd"), tags };
  });
}

function readSmall(path: string): string | null {
  try {
    using file = openIfThere(path);
    return file === null || file.size > MOST_BYTES ? null : file.read(0, file.size).toString("utf8");
  } catch {
    return null;
  }
}

function asString(value: unknown): string {
  return typeof value === "string" ? value : "";
}
