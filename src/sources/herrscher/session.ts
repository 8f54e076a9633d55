import { isJsonObject, JsonNumber, type JsonObject, type JsonTree, setKey } from "./json-tree.ts";

/** One session of the daemon: a row of `state.json` (herrscher.md §2). As in the program, "" , 0 and [] mean "not set". */
export interface Session {
  /** Stable logical id, `s_<name>` or `s_<name>_<n>`. */
  id: string;
  /** `inc_` and 26 base32 characters: the only identity that survives the reuse of a name. "" in old rows. */
  incarnation: string;
  name: string;
  channelID: string;
  /** `text` or `forum`. */
  type: string;
  /** Base invocation; may carry model and effort, and may name another vendor's binary. */
  cmd: string;
  /** `stream` (also when "") or `oneshot`. */
  backend: string;
  vendor: string;
  modelID: string;
  worktree: string;
  dir: string;
  project: string;
  agent: string;
  resumeToken: string;
  archived: boolean;
  owned: boolean;
  extractor: string;
  journal: string;
  consolidateEvery: number;
  gateways: string[];
  /** A stale cache: the journal under `participants/` is what counts. */
  participants: string[];
  /** Name of the lead that delegated it; it may be gone. */
  parent: string;
  /** US dollars, 0 = uncapped; a negative one never trips. */
  costCap: number;
  /** Tokens, 0 = uncapped; 64 bits, so it may lie beyond 2^53. */
  tokenCap: bigint;
  cohortCostCap: number;
  cohortTokenCap: bigint;
  /** `cost`, `tokens`, `cohort_cost`, `cohort_tokens`, "" when not paused. */
  pausedReason: string;
}

type Kind = "string" | "boolean" | "float" | "int" | "uint64" | "strings";

interface Field {
  key: string;
  of: keyof Session;
  kind: Kind;
  /** Written even when empty. */
  always?: true;
}

/** The program's keys in its order; mixed styles are real. */
const FIELDS: readonly Field[] = [
  { key: "id", of: "id", kind: "string" },
  { key: "incarnation", of: "incarnation", kind: "string" },
  { key: "name", of: "name", kind: "string", always: true },
  { key: "channelID", of: "channelID", kind: "string", always: true },
  { key: "type", of: "type", kind: "string", always: true },
  { key: "cmd", of: "cmd", kind: "string", always: true },
  { key: "backend", of: "backend", kind: "string" },
  { key: "vendor", of: "vendor", kind: "string" },
  { key: "modelId", of: "modelID", kind: "string" },
  { key: "worktree", of: "worktree", kind: "string" },
  { key: "dir", of: "dir", kind: "string" },
  { key: "project", of: "project", kind: "string" },
  { key: "agent", of: "agent", kind: "string" },
  { key: "resumeToken", of: "resumeToken", kind: "string" },
  { key: "archived", of: "archived", kind: "boolean" },
  { key: "owned", of: "owned", kind: "boolean" },
  { key: "extractor", of: "extractor", kind: "string" },
  { key: "journal", of: "journal", kind: "string" },
  { key: "consolidateEvery", of: "consolidateEvery", kind: "int" },
  { key: "gateways", of: "gateways", kind: "strings" },
  { key: "participants", of: "participants", kind: "strings" },
  { key: "parent", of: "parent", kind: "string" },
  { key: "cost_cap", of: "costCap", kind: "float" },
  { key: "token_cap", of: "tokenCap", kind: "uint64" },
  { key: "cohort_cost_cap", of: "cohortCostCap", kind: "float" },
  { key: "cohort_token_cap", of: "cohortTokenCap", kind: "uint64" },
  { key: "paused_reason", of: "pausedReason", kind: "string" },
];

const UINT64_MOST = 2n ** 64n - 1n;

/** A session with nothing set but what is given. */
export function blankSession(given: Partial<Session> & Pick<Session, "name">): Session {
  return {
    id: "",
    incarnation: "",
    channelID: "",
    type: "text",
    cmd: "",
    backend: "",
    vendor: "",
    modelID: "",
    worktree: "",
    dir: "",
    project: "",
    agent: "",
    resumeToken: "",
    archived: false,
    owned: false,
    extractor: "",
    journal: "",
    consolidateEvery: 0,
    gateways: [],
    participants: [],
    parent: "",
    costCap: 0,
    tokenCap: 0n,
    cohortCostCap: 0,
    cohortTokenCap: 0n,
    pausedReason: "",
    ...given,
  };
}

export function copySession(session: Session): Session {
  return { ...session, gateways: [...session.gateways], participants: [...session.participants] };
}

/** The explicit gateway kinds, null for a legacy session: the host binds those to what it has built. */
export function boundGateways(session: Session): string[] | null {
  return session.gateways.length === 0 ? null : [...session.gateways];
}

/** A channel but no stored gateways: written before sessions were bound to gateways (herrscher.md §2). */
export function isLegacy(session: Session): boolean {
  return session.gateways.length === 0 && session.channelID !== "";
}

export interface SessionRow {
  session: Session;
  /** Keys whose value has the wrong type: left at their empty value. */
  wrong: string[];
}

/** Reads one row as far as it can be read; null when it is not an object. */
export function parseSession(tree: JsonTree): SessionRow | null {
  if (!isJsonObject(tree)) return null;
  const session = blankSession({ name: "", type: "" });
  const wrong: string[] = [];
  for (const field of FIELDS) {
    const value = tree[field.key];
    if (value === undefined || value === null) continue;
    if (!assign(session, field, value)) wrong.push(field.key);
  }
  return { session, wrong };
}

function assign(session: Session, field: Field, value: JsonTree): boolean {
  const parsed = parseValue(field.kind, value);
  if (parsed === null) return false;
  // `kind` says which type the key holds, so the value fits the property it is given to.
  Object.assign(session, { [field.of]: parsed });
  return true;
}

function parseValue(kind: Kind, value: JsonTree): string | boolean | number | bigint | string[] | null {
  switch (kind) {
    case "string":
      return typeof value === "string" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "float": {
      const number = value instanceof JsonNumber ? Number(value.text) : Number.NaN;
      return Number.isFinite(number) ? number : null;
    }
    case "int":
      return value instanceof JsonNumber && /^-?[0-9]{1,15}$/u.test(value.text) ? Number(value.text) : null;
    case "uint64": {
      if (!(value instanceof JsonNumber) || !/^[0-9]{1,20}$/u.test(value.text)) return null;
      const whole = BigInt(value.text);
      return whole <= UINT64_MOST ? whole : null;
    }
    case "strings":
      return Array.isArray(value) && value.every((item) => typeof item === "string") ? [...value] : null;
  }
}

/**
 * A row as it is written: the program's keys in its order, then the keys nobody knows. What did not change
 * keeps the text it was read from.
 */
export function sessionTree(session: Session, before: JsonObject | null): JsonObject {
  const tree: JsonObject = {};
  for (const field of FIELDS) {
    const value = session[field.of];
    const old = before?.[field.key];
    if (old !== undefined && old !== null && sameValue(parseValue(field.kind, old), value)) tree[field.key] = old;
    else if (old !== undefined && parseValue(field.kind, old) === null && isEmpty(value)) tree[field.key] = old;
    else if (field.always === true || !isEmpty(value)) tree[field.key] = valueTree(value);
  }
  if (before === null) return tree;
  const known = new Set(FIELDS.map((field) => field.key));
  for (const [key, value] of Object.entries(before)) if (!known.has(key)) setKey(tree, key, value);
  return tree;
}

function sameValue(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => item === b[at]);
  return a !== null && a === b;
}

function isEmpty(value: Session[keyof Session]): boolean {
  return value === "" || value === 0 || value === 0n || value === false || (Array.isArray(value) && value.length === 0);
}

function valueTree(value: Session[keyof Session]): JsonTree {
  return typeof value === "number" || typeof value === "bigint" ? new JsonNumber(String(value)) : value;
}
