import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { replaceFile } from "../../files/publish.ts";
import { refuseIfHeld, type WriteOptions } from "./held.ts";
import { formatTree, isJsonObject, type JsonObject, type JsonTree, setKey } from "./json-tree.ts";
import { InvalidSessionName, isValidInstanceID, isValidName } from "./names.ts";
import { copySession, type Session, sessionTree } from "./session.ts";
import { BadState, freeID, type HomeRef, readStateFile, type StateContent } from "./state-file.ts";

export class SessionNameTaken extends Error {
  override name = "SessionNameTaken";
  readonly sessionName: string;
  constructor(sessionName: string) {
    super(`session "${sessionName}" already exists`);
    this.sessionName = sessionName;
  }
}

/** The budgets of a session; 0 = uncapped. */
export interface Budget {
  costCap: number;
  tokenCap: bigint | number;
  cohortCostCap: number;
  cohortTokenCap: bigint | number;
  pausedReason: string;
}

interface Held {
  session: Session;
  /** What the row was read from; null for a new one. */
  tree: JsonTree;
}

/** An empty state bound to a path, not yet written. */
export function newState(path: string, options: WriteOptions = {}): State {
  return new State(path, null, options);
}

/** The state in a file; a missing file is an empty state. Unlike the program's, it writes nothing. Throws BadState, CannotOpen. */
export function loadState(path: string, options: WriteOptions = {}): State {
  const content = readStateFile(path);
  // What could not be kept must not be written over.
  if (content?.wrong.includes("sessions")) throw new BadState("state.json: sessions is neither a list nor null");
  return new State(path, content, options);
}

/**
 * The daemon's persisted configuration (herrscher.md §2). Every change is saved at once, one after another, and is
 * refused with DaemonHoldsRoot while a daemon runs; keys nobody knows and the text of numbers survive.
 */
export class State {
  readonly path: string;
  #home: HomeRef;
  #repo: string;
  #workspace: string;
  #source: string;
  #statusMessageID: string;
  #instanceID: string;
  #rows: Held[] | null;
  #tree: JsonObject;
  readonly #options: WriteOptions;
  #saving: Promise<unknown> = Promise.resolve();

  constructor(path: string, content: StateContent | null, options: WriteOptions) {
    this.path = path;
    this.#home = content?.home ?? { id: "", type: "" };
    this.#repo = content?.repo ?? "";
    this.#workspace = content?.workspace ?? "";
    this.#source = content?.source ?? "";
    this.#statusMessageID = content?.statusMessageID ?? "";
    this.#instanceID = content?.instanceID ?? "";
    this.#rows = content?.rows?.map(({ session, tree }) => ({ session, tree })) ?? null;
    this.#tree = content?.tree ?? {};
    this.#options = { ...options, statePath: path };
  }

  get home(): HomeRef {
    return { ...this.#home };
  }

  get repo(): string {
    return this.#repo;
  }

  get statusMessageID(): string {
    return this.#statusMessageID;
  }

  get instanceID(): string {
    return this.#instanceID;
  }

  /** Writes the state: complete under a name of our own, mode 0600, then renamed over. Throws DaemonHoldsRoot. */
  save(): Promise<void> {
    return this.#change(() => true);
  }

  /** Adds a session; id and incarnation are made when it has none. Throws {@link SessionNameTaken}, InvalidSessionName. */
  addSession(session: Session): Promise<void> {
    return this.#change(() => {
      if (!isValidName(session.name)) throw new InvalidSessionName(session.name);
      if (this.findSession(session.name) !== null) throw new SessionNameTaken(session.name);
      const added = copySession(session);
      const rows = this.#rows ?? [];
      if (added.id === "") added.id = freeID(added.name, new Set(rows.map((row) => row.session.id)));
      if (added.incarnation === "") added.incarnation = newIncarnation();
      this.#rows = [...rows, { session: added, tree: null }];
      return true;
    });
  }

  removeSession(name: string): Promise<void> {
    return this.#change(() => {
      this.#rows = (this.#rows ?? []).filter((row) => row.session.name !== name);
      return true;
    });
  }

  /** The first session of that name, null when there is none. */
  findSession(name: string): Session | null {
    const held = this.#find(name);
    return held === null ? null : copySession(held);
  }

  /** Copies of all sessions, in file order. */
  snapshotSessions(): Session[] {
    return (this.#rows ?? []).map((row) => copySession(row.session));
  }

  setHome(home: HomeRef): Promise<void> {
    return this.#change(() => {
      this.#home = { ...home };
      return true;
    });
  }

  setWorkspace(path: string): Promise<void> {
    return this.#change(() => {
      this.#workspace = path;
      return true;
    });
  }

  setSource(path: string): Promise<void> {
    return this.#change(() => {
      this.#source = path;
      return true;
    });
  }

  /** Meant to be frozen once set; the caller sees to that. Throws a RangeError for what is not an instance id. */
  setInstanceID(id: string): Promise<void> {
    return this.#change(() => {
      if (id !== "" && !isValidInstanceID(id)) throw new RangeError("not an instance id: a-z, 0-9 and -, at most 16");
      this.#instanceID = id;
      return true;
    });
  }

  setStatusMessageID(id: string): Promise<void> {
    return this.#change(() => {
      this.#statusMessageID = id;
      return true;
    });
  }

  /** Written only on change; an unknown name is no error. */
  setArchived(name: string, archived: boolean): Promise<void> {
    return this.#update(name, { archived });
  }

  /** Caps and paused reason in one write; an unknown name is no error. Throws a RangeError for a cap no file can hold. */
  setBudget(name: string, budget: Budget): Promise<void> {
    const { costCap, cohortCostCap, pausedReason } = budget;
    if (!Number.isFinite(costCap) || !Number.isFinite(cohortCostCap)) {
      return Promise.reject(new RangeError("a cost cap is a finite number"));
    }
    return this.#change(() => {
      const tokenCap = asUint64(budget.tokenCap);
      const cohortTokenCap = asUint64(budget.cohortTokenCap);
      return this.#assign(name, { costCap, tokenCap, cohortCostCap, cohortTokenCap, pausedReason });
    });
  }

  /** "" clears it; an unknown name is no error. */
  setPausedReason(name: string, pausedReason: string): Promise<void> {
    return this.#update(name, { pausedReason });
  }

  /** Written only on change, because every turn reports the same token; an unknown name is no error. */
  setResumeToken(name: string, resumeToken: string): Promise<void> {
    return this.#update(name, { resumeToken });
  }

  /** Re-points a session at another backend; the old one's resume token means nothing to it. false: no such session. */
  async setBackendTarget(name: string, vendor: string, cmd: string, modelID: string): Promise<boolean> {
    let found = false;
    await this.#change(() => {
      found = this.#find(name) !== null;
      return this.#assign(name, { vendor, cmd, modelID, resumeToken: "" });
    });
    return found;
  }

  /** Seeds what is not set, in memory only: what is persisted wins over config.json (herrscher.md §5). */
  applyDefaults(home: HomeRef | null, workspace: string, source: string): void {
    if (home !== null && this.#home.id === "") this.#home = { ...home };
    if (this.#workspace === "") this.#workspace = workspace;
    if (this.#source === "") this.#source = source;
  }

  /** `<instanceID>__<name>`, the bare name without an instance: used on channel titles only. */
  qualifiedName(name: string): string {
    return this.#instanceID === "" ? name : `${this.#instanceID}__${name}`;
  }

  /** The workspace, else the legacy repo, else "". */
  workspaceRoot(): string {
    return this.#workspace || this.#repo;
  }

  sourceDir(): string {
    return this.#source;
  }

  #find(name: string): Session | null {
    return this.#rows?.find((row) => row.session.name === name)?.session ?? null;
  }

  /** Changes a session in memory; false when there is none or nothing is different. */
  #assign(name: string, change: Partial<Session>): boolean {
    const session = this.#find(name);
    if (session === null) return false;
    const before = { ...session };
    Object.assign(session, change);
    return Object.keys(change).some((key) => Reflect.get(before, key) !== Reflect.get(session, key));
  }

  #update(name: string, change: Partial<Session>): Promise<void> {
    return this.#change(() => this.#assign(name, change));
  }

  /** One after another: make the change, and save when it was one. A refused or failed save takes the change back. */
  #change(make: () => boolean): Promise<void> {
    const turn = this.#saving.then(async () => {
      const before = this.#remember();
      try {
        if (!make()) return;
        await this.#write();
      } catch (error) {
        before();
        throw error;
      }
    });
    this.#saving = turn.catch(() => undefined);
    return turn;
  }

  #remember(): () => void {
    const rows = this.#rows?.map((row) => ({ ...row, session: copySession(row.session) })) ?? null;
    const [home, workspace, source] = [this.#home, this.#workspace, this.#source];
    const [statusMessageID, instanceID] = [this.#statusMessageID, this.#instanceID];
    return () => {
      this.#rows = rows;
      this.#home = home;
      this.#workspace = workspace;
      this.#source = source;
      this.#statusMessageID = statusMessageID;
      this.#instanceID = instanceID;
    };
  }

  async #write(): Promise<void> {
    this.#fillIncarnations();
    const text = formatTree(this.#asTree());
    const directory = dirname(this.path);
    mkdirSync(directory, { recursive: true, mode: 0o755 });
    await refuseIfHeld(directory, this.#options);
    await replaceFile(this.path, text, { mode: 0o600 });
  }

  /** Missing and repeated ones get their own, as the program does when it loads a file. */
  #fillIncarnations(): void {
    const seen = new Set<string>();
    for (const { session } of this.#rows ?? []) {
      if (session.name !== "" && (session.incarnation === "" || seen.has(session.incarnation))) {
        session.incarnation = newIncarnation();
      }
      seen.add(session.incarnation);
    }
  }

  #asTree(): JsonObject {
    const old = this.#tree;
    const tree: JsonObject = {};
    const homeBefore = isJsonObject(old.home) ? old.home : {};
    tree.home = { ...homeBefore, id: this.#home.id, type: this.#home.type };
    const optional = (key: string, value: string): void => {
      if (value !== "") tree[key] = value;
      else if (old[key] !== undefined && typeof old[key] !== "string") tree[key] = old[key];
    };
    optional("repo", this.#repo);
    optional("workspace", this.#workspace);
    optional("source", this.#source);
    tree.sessions = this.#rows?.map(rowTree) ?? null;
    optional("statusMessageID", this.#statusMessageID);
    optional("instanceID", this.#instanceID);
    for (const [key, value] of Object.entries(old)) if (!STATE_KEYS.has(key)) setKey(tree, key, value);
    return tree;
  }
}

const STATE_KEYS = new Set(["home", "repo", "workspace", "source", "sessions", "statusMessageID", "instanceID"]);

/** A row that is not even an object stays as it was: it is not ours to throw away. */
function rowTree({ session, tree }: Held): JsonTree {
  if (tree !== null && !isJsonObject(tree)) return tree;
  return session.name === "" && tree === null ? null : sessionTree(session, tree);
}

function asUint64(cap: bigint | number): bigint {
  const whole = BigInt(cap);
  if (whole < 0n || whole >= 2n ** 64n) throw new RangeError("a token cap is a whole number from 0 to 2^64 - 1");
  return whole;
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** `inc_` and 26 base32 characters of 128 random bits (herrscher.md §2). */
export function newIncarnation(): string {
  let bits = BigInt(`0x${randomBytes(16).toString("hex")}`) << 2n;
  let text = "";
  for (let at = 0; at < 26; at += 1) {
    text = `${BASE32[Number(bits & 31n)] ?? ""}${text}`;
    bits >>= 5n;
  }
  return `inc_${text}`;
}
