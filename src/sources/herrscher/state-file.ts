import { openRegular } from "../../files/open.ts";
import { isJsonObject, type JsonObject, type JsonTree, parseTree } from "./json-tree.ts";
import { isValidName } from "./names.ts";
import { blankSession, parseSession, type Session } from "./session.ts";

/** The category, forum or terminal that holds the channels of sessions. */
export interface HomeRef {
  id: string;
  /** `category`, `forum`, `terminal` or "". */
  type: string;
}

interface RowDamage {
  kind: "bad-row" | "bad-name" | "duplicate-name";
  /** For a person. */
  text: string;
}

/** One row of `sessions`, damaged or not, with what it was read from. */
export interface StateRow {
  /** 1-based position in the file. */
  n: number;
  session: Session;
  /** As it stands in the file. */
  tree: JsonTree;
  /** Does the name fit the program's pattern? Otherwise no file of it is looked at. */
  nameValid: boolean;
  /** The file had no id; the one in `session` is what the program would give it. */
  idBackfilled: boolean;
  /** What is wrong with the row; empty when nothing. */
  damage: RowDamage[];
  /** An earlier row has the same name: the program's look-ups find that one. */
  duplicate: boolean;
}

/** `state.json` as read (herrscher.md §2). */
export interface StateContent {
  home: HomeRef;
  repo: string;
  workspace: string;
  source: string;
  statusMessageID: string;
  instanceID: string;
  /** null before the first session ever existed. */
  rows: StateRow[] | null;
  /** Keys of the top level whose value has the wrong type. */
  wrong: string[];
  tree: JsonObject;
}

export class BadState extends Error {
  override name = "BadState";
}

/** A state file above this is not one: the program keeps at most 64 rows. */
const MOST_STATE_BYTES = 64 * 1024 * 1024;

/** The content of a state file, null when there is none. Throws {@link BadState} or CannotOpen. Writes nothing, unlike the program. */
export function readStateFile(path: string): StateContent | null {
  const text = readWhole(path);
  return text === null ? null : parseState(text);
}

function readWhole(path: string): string | null {
  try {
    using file = openRegular(path);
    if (file.size > MOST_STATE_BYTES) throw new BadState(`state.json is too large to be one (${file.size} bytes)`);
    return file.read(0, file.size).toString("utf8");
  } catch (error) {
    if (error instanceof Error && "kind" in error && error.kind === "gone") return null;
    throw error;
  }
}

/** Throws {@link BadState} when it is not JSON or not an object; bad rows cost only themselves. */
export function parseState(text: string): StateContent {
  let tree: JsonTree;
  try {
    tree = parseTree(text);
  } catch {
    throw new BadState("state.json is not valid JSON");
  }
  if (!isJsonObject(tree)) throw new BadState("state.json does not hold an object");
  const wrong: string[] = [];
  const string = (key: string): string => {
    const value = tree[key];
    if (typeof value === "string") return value;
    if (value !== undefined && value !== null) wrong.push(key);
    return "";
  };
  const home = isJsonObject(tree.home) ? tree.home : {};
  const sessions = tree.sessions;
  if (sessions !== undefined && sessions !== null && !Array.isArray(sessions)) wrong.push("sessions");
  return {
    home: { id: asString(home.id), type: asString(home.type) },
    repo: string("repo"),
    workspace: string("workspace"),
    source: string("source"),
    statusMessageID: string("statusMessageID"),
    instanceID: string("instanceID"),
    rows: Array.isArray(sessions) ? parseRows(sessions) : null,
    wrong,
    tree,
  };
}

function asString(tree: JsonTree | undefined): string {
  return typeof tree === "string" ? tree : "";
}

function parseRows(trees: readonly JsonTree[]): StateRow[] {
  const names = new Set<string>();
  const rows = trees.map((tree, at): StateRow => {
    const parsed = parseSession(tree);
    const session = parsed?.session ?? blankSession({ name: "" });
    const nameValid = isValidName(session.name);
    const damage: RowDamage[] = [];
    const bad = (kind: RowDamage["kind"], text: string): number => damage.push({ kind, text });
    if (parsed === null) bad("bad-row", "the row is not an object");
    else if (session.name === "") bad("bad-row", "the row has no name");
    else if (!nameValid) bad("bad-name", "its name is not one the program accepts: no file of it is read");
    for (const key of parsed?.wrong ?? []) bad("bad-row", `${key} has the wrong type`);
    const duplicate = session.name !== "" && names.has(session.name);
    if (duplicate) bad("duplicate-name", "an earlier row has the same name: the program only ever finds that one");
    names.add(session.name);
    return { n: at + 1, session, tree, nameValid, idBackfilled: false, damage, duplicate };
  });
  const taken = new Set(rows.map((row) => row.session.id).filter((id) => id !== ""));
  for (const row of rows) {
    if (row.session.id !== "" || row.session.name === "") continue;
    row.session.id = freeID(row.session.name, taken);
    row.idBackfilled = true;
    taken.add(row.session.id);
  }
  return rows;
}

/** `s_<name>`, or `s_<name>_<n>` when that is taken (herrscher.md §2). */
export function freeID(name: string, taken: ReadonlySet<string>): string {
  let id = `s_${name}`;
  for (let n = 2; taken.has(id); n += 1) id = `s_${name}_${n}`;
  return id;
}
