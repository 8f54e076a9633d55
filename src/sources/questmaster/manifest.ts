import { indentedJson, type RawJson, rawObject } from "../../files/raw-json.ts";
import { isValidPartyID, RESUME_KEYS, sanitizeResumeID } from "./ids.ts";
import { Fields } from "./typed.ts";

/** One agent of a session as its manifest records it (questmaster.md §5). */
export interface AgentManifest {
  name: string;
  /** `primary`; v0.1.0 also `companion`. */
  role: string;
  cli: string;
  /** Empty when unknown, or when the file held one that is not safe. */
  resumeID: string;
  /** Index of its tmux window. */
  window: number;
  /** Keys of the file that are not in this interface. */
  extra: Map<string, RawJson>;
}

/** A session's manifest `<id>.json` (questmaster.md §5). Untrusted strings. */
export interface Manifest {
  /** The file's name decides; the id inside the file is overwritten. */
  partyID: string;
  /** Under which key the id is written: `party_id` up to v0.2.12, `session_id` from v0.3.0. */
  idKey: "party_id" | "session_id";
  createdAt: string;
  updatedAt: string;
  title: string;
  cwd: string;
  windowName: string;
  agents: AgentManifest[];
  agentPath: string;
  /** `master` or empty. */
  sessionType: string;
  workers: string[];
  /** Every other key, its value as JSON text, so that nothing of it is lost. */
  extra: Map<string, RawJson>;
  /** Keys of extras that were dropped on reading because their resume id was not safe. */
  unsafe: string[];
}

/** A manifest with nothing but its id. The key of the id follows its prefix, as the versions that write it do. */
export function newManifest(partyID: string, known: Partial<Omit<Manifest, "partyID">> = {}): Manifest {
  return {
    partyID,
    idKey: partyID.startsWith("qm-") ? "session_id" : "party_id",
    createdAt: "",
    updatedAt: "",
    title: "",
    cwd: "",
    windowName: "",
    agents: [],
    agentPath: "",
    sessionType: "",
    workers: [],
    extra: new Map(),
    unsafe: [],
    ...known,
  };
}

/** Reads a manifest's text. Throws `BadJson` where the original refuses it: not one object, or a typed field of another type. */
export function parseManifest(partyID: string, text: string): Manifest {
  const fields = new Fields(text);
  const idKey =
    fields.has("session_id") || (!fields.has("party_id") && partyID.startsWith("qm-")) ? "session_id" : "party_id";
  fields.string(idKey);
  const manifest = newManifest(partyID, {
    idKey,
    createdAt: fields.string("created_at"),
    updatedAt: fields.string("updated_at"),
    title: fields.string("title"),
    cwd: fields.string("cwd"),
    windowName: fields.string("window_name"),
    agents: fields.objects("agents").map(parseAgent),
    agentPath: fields.string("agent_path"),
    sessionType: fields.string("session_type"),
    workers: fields.strings("workers"),
  });
  manifest.extra = fields.rest();
  for (const key of Object.values(RESUME_KEYS)) {
    const id = extraString(manifest, key);
    // An empty one means that there is none, and stays as it is.
    if (id !== "" && sanitizeResumeID(id) === "") {
      manifest.extra.delete(key);
      manifest.unsafe.push(key);
    }
  }
  return manifest;
}

function parseAgent(raw: RawJson): AgentManifest {
  const fields = new Fields(raw === "null" ? "{}" : raw);
  return {
    name: fields.string("name"),
    role: fields.string("role"),
    cli: fields.string("cli"),
    resumeID: sanitizeResumeID(fields.string("resume_id")),
    window: Number(fields.integer("window")),
    extra: fields.rest(),
  };
}

/** The text of a manifest: typed keys in their order, or all keys sorted as soon as there is an extra one (questmaster.md §5). */
export function manifestText(manifest: Manifest): string {
  const members: [string, RawJson][] = [[manifest.idKey, JSON.stringify(manifest.partyID)]];
  const unlessEmpty = (key: string, value: string): void => {
    if (value !== "") members.push([key, JSON.stringify(value)]);
  };
  unlessEmpty("created_at", manifest.createdAt);
  unlessEmpty("updated_at", manifest.updatedAt);
  unlessEmpty("title", manifest.title);
  unlessEmpty("cwd", manifest.cwd);
  unlessEmpty("window_name", manifest.windowName);
  if (manifest.agents.length > 0) members.push(["agents", `[${manifest.agents.map(agentText).join(",")}]`]);
  unlessEmpty("agent_path", manifest.agentPath);
  unlessEmpty("session_type", manifest.sessionType);
  if (manifest.workers.length > 0) members.push(["workers", JSON.stringify(manifest.workers)]);
  if (manifest.extra.size > 0) {
    const typed = new Set(members.map(([key]) => key));
    for (const [key, raw] of manifest.extra) if (!typed.has(key)) members.push([key, raw]);
    members.sort(([a], [b]) => (a < b ? -1 : 1));
  }
  return `${indentedJson(rawObject(members))}\n`;
}

function agentText(agent: AgentManifest): RawJson {
  const members: [string, RawJson][] = [
    ["name", JSON.stringify(agent.name)],
    ["role", JSON.stringify(agent.role)],
    ["cli", JSON.stringify(agent.cli)],
  ];
  if (agent.resumeID !== "") members.push(["resume_id", JSON.stringify(agent.resumeID)]);
  members.push(["window", String(agent.window)], ...agent.extra);
  return rawObject(members);
}

/** A string among the unknown keys; empty when it is absent or not a string. */
export function extraString(manifest: Manifest, key: string): string {
  const raw = manifest.extra.get(key);
  return raw?.startsWith('"') ? String(JSON.parse(raw)) : "";
}

/** Sets a string among the unknown keys. */
export function setExtra(manifest: Manifest, key: string, value: string): void {
  manifest.extra.set(key, JSON.stringify(value));
}

export type SessionType = "master" | "worker" | "standalone";

/** What a session is: a promoted worker keeps its parent but counts as a master (questmaster.md §8.2). */
export function sessionType(manifest: Manifest): SessionType {
  if (manifest.sessionType === "master") return "master";
  return extraString(manifest, "parent_session") === "" ? "standalone" : "worker";
}

/** The session that this one was spawned by, null when there is none or its id is not one. */
export function parentID(manifest: Manifest): string | null {
  const id = extraString(manifest, "parent_session");
  return isValidPartyID(id) && id !== manifest.partyID ? id : null;
}

/** The agent that leads the session: the one in the role `primary`. */
export function primaryAgent(manifest: Manifest): AgentManifest | null {
  return manifest.agents.find((agent) => agent.role === "primary") ?? null;
}

/** The id to resume the manifest's primary agent by: its own, else the extra key of that agent; empty when unknown. */
export function manifestResumeID(manifest: Manifest, agentName: string): string {
  const primary = primaryAgent(manifest);
  if (primary?.name === agentName && primary.resumeID !== "") return primary.resumeID;
  const key = (RESUME_KEYS as Record<string, string>)[agentName];
  return key === undefined ? "" : sanitizeResumeID(extraString(manifest, key));
}
