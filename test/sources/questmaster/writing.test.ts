import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  appendStateEvent,
  CannotLock,
  InvalidPartyID,
  initStartingState,
  isValidPartyID,
  loadSessionState,
  ManifestExists,
  ManifestNotFound,
  manifestLockPath,
  newManifest,
  newPaneState,
  newSessionState,
  newStore,
  nowUTC,
  openStore,
  parseStateEvent,
  STATE_JSONL_MAX_SIZE,
  sanitizeResumeID,
  saveSessionState,
  sessionStateLockPath,
  sessionStateLogPath,
  sessionStatePath,
  stateRoot,
  updateSessionState,
} from "../../../src/sources/questmaster/index.ts";
import { temporaryDirectory } from "../../support/temp.ts";

const ID = "qm-1784547000";

async function holderOf(lock: string): Promise<ChildProcess> {
  const child = spawn("flock", ["-x", lock, "cat"], { stdio: ["pipe", "pipe", "ignore"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin?.write("!");
  await new Promise<void>((resolve) => child.stdout?.once("data", () => resolve()));
  return child;
}

describe("names", () => {
  it.each([
    ["party-1784530800", true],
    ["qm-1784530800-42", true],
    ["qm-a_B", true],
    ["party-", false],
    ["party-bad name", false],
    ["party-a.b", false],
    ["party-a/b", false],
    ["qm-a\n", false],
    ["xparty-1", false],
    ["PARTY-1", false],
    ["", false],
  ])("the id %j is valid: %s", (id, valid) => {
    expect(isValidPartyID(id)).toBe(valid);
  });

  it.each([
    ["abc-DEF_123", "abc-DEF_123"],
    ["a.b", ""],
    ["a:b", ""],
    ["../x", ""],
    ["", ""],
    ["a b", ""],
  ])("the resume id %j becomes %j", (id, safe) => {
    expect(sanitizeResumeID(id)).toBe(safe);
  });

  it.each([
    [{ QUESTMASTER_STATE_ROOT: "/q", PARTY_STATE_ROOT: "/p", HOME: "/h" }, "/q"],
    [{ QUESTMASTER_STATE_ROOT: "", PARTY_STATE_ROOT: "/p", HOME: "/h" }, "/p"],
    [{ HOME: "/h" }, "/h/.questmaster-state"],
    [{ HOME: "" }, ""],
    [{}, ""],
  ])("the state root of %j is %j", (env, root) => {
    expect(stateRoot(env)).toBe(root);
  });

  it("a manifest's time is whole seconds in UTC", () => {
    expect(nowUTC(Date.parse("2026-07-20T12:00:00.999Z"))).toBe("2026-07-20T12:00:00Z");
  });
});

describe("a store", () => {
  it("creates, reads, updates and deletes, and says when it cannot", async () => {
    const store = newStore(join(temporaryDirectory(), "deep", "root"));
    await store.create(newManifest(ID, { title: "t" }));
    await expect(store.create(newManifest(ID))).rejects.toBeInstanceOf(ManifestExists);
    expect((await store.read(ID)).title).toBe("t");
    expect((await store.read(ID)).createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/u);
    await store.update(ID, (manifest) => {
      manifest.title = "other";
    });
    expect((await store.read(ID)).title).toBe("other");
    await store.addWorker(ID, "qm-2");
    await store.addWorker(ID, "qm-2");
    await store.addWorker(ID, "qm-3");
    expect(await store.getWorkers(ID)).toEqual(["qm-2", "qm-3"]);
    await store.removeWorker(ID, "qm-2");
    expect(await store.getWorkers(ID)).toEqual(["qm-3"]);
    await store.delete(ID);
    await expect(store.read(ID)).rejects.toBeInstanceOf(ManifestNotFound);
    await expect(store.delete(ID)).rejects.toBeInstanceOf(ManifestNotFound);
    await expect(store.update(ID, () => undefined)).rejects.toBeInstanceOf(ManifestNotFound);
    expect(readdirSync(store.root).filter((name) => name.endsWith(".json"))).toEqual([]);
  });

  it("refuses ids that are none, and makes nothing", async () => {
    const store = newStore(temporaryDirectory());
    await expect(store.create(newManifest("../evil"))).rejects.toBeInstanceOf(InvalidPartyID);
    await expect(store.read("party-a/b")).rejects.toBeInstanceOf(InvalidPartyID);
    expect(readdirSync(store.root)).toEqual([]);
  });

  it("opened for reading makes nothing, and is empty where there is no root", async () => {
    const root = join(temporaryDirectory(), "none");
    expect(await openStore(root).discoverSessions()).toEqual([]);
    expect(existsSync(root)).toBe(false);
  });

  it("only one of many concurrent creates wins", async () => {
    const store = newStore(temporaryDirectory());
    const tries = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) => store.create(newManifest(ID, { title: String(n) }))),
    );
    expect(tries.filter((one) => one.status === "fulfilled")).toHaveLength(1);
  });

  it("waits while another process holds the manifest's lock", async () => {
    const store = newStore(temporaryDirectory());
    await store.create(newManifest(ID));
    const holder = await holderOf(manifestLockPath(store.root, ID));
    let updated = false;
    const update = store.addWorker(ID, "qm-2").then(() => {
      updated = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(updated).toBe(false);
    holder.stdin?.end();
    await update;
    expect(await store.getWorkers(ID)).toEqual(["qm-2"]);
  });

  it("writes nothing where no lock can be had", async () => {
    const root = temporaryDirectory();
    const store = newStore(root, { env: { PATH: "/nonexistent" } });
    await expect(store.create(newManifest(ID))).rejects.toBeInstanceOf(CannotLock);
    expect(existsSync(join(root, `${ID}.json`))).toBe(false);
  });
});

describe("a session's state", () => {
  it("is null when it is not there, and saved, loaded and updated as a whole", async () => {
    const root = temporaryDirectory();
    expect(await loadSessionState(ID, { root })).toBeNull();
    const state = newSessionState(ID);
    state.panes.set("primary", { ...newPaneState("primary", "claude"), seq: 1784548625123456789n });
    await saveSessionState(ID, state, { root });
    expect((await loadSessionState(ID, { root }))?.panes.get("primary")?.seq).toBe(1784548625123456789n);
    expect(statSync(sessionStatePath(root, ID)).mode & 0o777).toBe(0o644 & ~process.umask());
    expect(readFileSync(sessionStatePath(root, ID), "utf8").endsWith("}\n")).toBe(true);
    expect(existsSync(`${sessionStatePath(root, ID)}.tmp`)).toBe(false);
  });

  it("is not written when the change refuses", async () => {
    const root = temporaryDirectory();
    await saveSessionState(ID, newSessionState(ID), { root });
    const before = statSync(sessionStatePath(root, ID)).mtimeMs;
    const refuse = (): boolean => false;
    expect(await updateSessionState(ID, refuse, { root })).toBe(false);
    expect(statSync(sessionStatePath(root, ID)).mtimeMs).toBe(before);
  });

  it("is never repaired when it is torn", async () => {
    const root = temporaryDirectory();
    mkdirSync(join(root, ID));
    writeFileSync(sessionStatePath(root, ID), '{"session_id":"qm');
    await expect(updateSessionState(ID, () => true, { root })).rejects.toThrow();
    expect(readFileSync(sessionStatePath(root, ID), "utf8")).toBe('{"session_id":"qm');
  });

  it("is seeded as starting, but a pane that has a state keeps it", async () => {
    const root = temporaryDirectory();
    await initStartingState(ID, { primary: "codex" }, { root });
    const seeded = (await loadSessionState(ID, { root }))?.panes.get("primary");
    expect(seeded).toMatchObject({ agent: "codex", state: "starting", activity: "started", lastKind: "SessionStart" });
    await initStartingState(ID, { primary: "claude", companion: "codex" }, { root });
    const state = await loadSessionState(ID, { root });
    expect(state?.panes.get("primary")?.agent).toBe("codex");
    expect(state?.panes.get("companion")?.state).toBe("starting");
  });

  it("waits while flock(1) holds its lock, and flock(1) waits while we hold it", async () => {
    const root = temporaryDirectory();
    await saveSessionState(ID, newSessionState(ID), { root });
    const lock = sessionStateLockPath(root, ID);
    const holder = await holderOf(lock);
    await expect(updateSessionState(ID, () => true, { root, waitMs: 50 })).rejects.toMatchObject({ kind: "busy" });
    holder.stdin?.end();
    let free: number | null = null;
    await updateSessionState(
      ID,
      () => {
        free = spawnSync("flock", ["-n", lock, "true"]).status;
        return true;
      },
      { root },
    );
    expect(free).toBe(1);
    expect(spawnSync("flock", ["-n", lock, "true"]).status).toBe(0);
  });

  it("is not written through a symbolic link, nor in a root that is not there", async () => {
    const root = temporaryDirectory();
    mkdirSync(join(root, ID));
    const elsewhere = join(root, "elsewhere");
    symlinkSync(elsewhere, `${sessionStatePath(root, ID)}.tmp`);
    await expect(saveSessionState(ID, newSessionState(ID), { root })).rejects.toThrow();
    expect(existsSync(elsewhere)).toBe(false);
    await expect(saveSessionState(ID, newSessionState(ID), { root: join(root, "none") })).rejects.toThrow(
      /no state root/u,
    );
    await expect(saveSessionState("../x", newSessionState(ID), { root })).rejects.toThrow(/not a session id/u);
  });
});

describe("without a root", () => {
  const env = { HOME: "" };
  it.each([
    ["a state is not saved", () => saveSessionState(ID, newSessionState(ID), { env }), undefined],
    ["a state is not updated", () => updateSessionState(ID, () => true, { env }), false],
    [
      "an event is not logged",
      () => appendStateEvent(ID, { ts: nowUTC(), agent: "pi", action: "x" }, { env }),
      undefined,
    ],
    ["nothing is seeded", () => initStartingState(ID, { primary: "pi" }, { env }), undefined],
    ["a state is not found", () => loadSessionState(ID, { env }), null],
  ])("%s, and that is no error", async (_name, call, wanted) => {
    expect(await call()).toBe(wanted);
    expect(existsSync(ID)).toBe(false);
  });

  it("an id that is none is still refused", async () => {
    await expect(saveSessionState("../x", newSessionState(ID), { env })).rejects.toThrow(/not a session id/u);
  });
});

describe("a FIFO with a reader", () => {
  const files = (root: string) => ({ root, waitMs: 5000 });
  it.each([
    [`${ID}.json.tmp`, (root: string) => openStore(root).addWorker(ID, "qm-2")],
    [`${ID}/state.json.tmp`, (root: string) => saveSessionState(ID, newSessionState(ID), files(root))],
    [
      `${ID}/state.jsonl`,
      (root: string) => appendStateEvent(ID, { ts: nowUTC(), agent: "pi", action: "x" }, files(root)),
    ],
  ])("in the place of %s is left alone", async (name, write) => {
    const root = temporaryDirectory();
    await newStore(root).create(newManifest(ID, { title: "t" }));
    mkdirSync(join(root, ID));
    const fifo = join(root, name);
    execFileSync("mkfifo", [fifo]);
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    onTestFinished(() => closeSync(reader));
    await expect(write(root)).rejects.toThrow(/not a regular file/u);
    expect(readSync(reader, Buffer.alloc(10))).toBe(0);
    expect(statSync(fifo).isFIFO()).toBe(true);
    expect((await openStore(root).read(ID)).title).toBe("t");
  });
});

describe("the event log", () => {
  it("is not moved aside where it is a link", async () => {
    const root = temporaryDirectory();
    const elsewhere = join(root, "elsewhere");
    writeFileSync(elsewhere, "x".repeat(STATE_JSONL_MAX_SIZE));
    mkdirSync(join(root, ID));
    symlinkSync(elsewhere, sessionStateLogPath(root, ID));
    await expect(appendStateEvent(ID, { ts: nowUTC(), agent: "pi", action: "x" }, { root })).rejects.toThrow();
    expect(readdirSync(join(root, ID)).sort()).toEqual(["state.json.lock", "state.jsonl"]);
    expect(statSync(elsewhere).size).toBe(STATE_JSONL_MAX_SIZE);
  });

  it("is rotated at one mebibyte, and one old file is kept", async () => {
    const root = temporaryDirectory();
    const log = sessionStateLogPath(root, ID);
    const event = (action: string) => ({ ts: "2026-07-20T12:00:00Z", agent: "claude", action });
    await appendStateEvent(ID, event("first"), { root });
    writeFileSync(log, `${" ".repeat(STATE_JSONL_MAX_SIZE - 2)}\n`);
    await appendStateEvent(ID, event("one byte short"), { root });
    expect(existsSync(`${log}.1`)).toBe(false);
    await appendStateEvent(ID, event("over"), { root });
    expect(statSync(`${log}.1`).size).toBeGreaterThanOrEqual(STATE_JSONL_MAX_SIZE);
    expect(parseStateEvent(readFileSync(log, "utf8"))?.action).toBe("over");
    writeFileSync(log, "x".repeat(STATE_JSONL_MAX_SIZE));
    await appendStateEvent(ID, event("again"), { root });
    expect(readFileSync(`${log}.1`, "utf8").startsWith("xxx")).toBe(true);
    expect(readdirSync(join(root, ID)).sort()).toEqual(["state.json.lock", "state.jsonl", "state.jsonl.1"]);
  });
});

describe("eight processes at once", () => {
  it("update one session's state 500 times each, lose no update and tear no line", { timeout: 120_000 }, async () => {
    const root = temporaryDirectory();
    const writer = fileURLToPath(new URL("writer.ts", import.meta.url));
    const names = Array.from({ length: 8 }, (_, n) => `writer-${n}`);
    const codes = await Promise.all(
      names.map((name) => {
        const child = spawn(process.execPath, [writer, root, ID, name, "500"], {
          stdio: ["ignore", "inherit", "inherit"],
        });
        onTestFinished(() => void child.kill("SIGKILL"));
        return new Promise((resolve) => child.once("exit", resolve));
      }),
    );
    expect(codes).toEqual(names.map(() => 0));
    const panes = (await loadSessionState(ID, { root }))?.panes;
    expect(panes?.get("primary")?.seq).toBe(4000n);
    for (const name of names) expect(panes?.get(name)?.seq).toBe(500n);
    const lines = readFileSync(sessionStateLogPath(root, ID), "utf8").split("\n");
    expect(lines.pop()).toBe("");
    const seen = lines.map((line) => parseStateEvent(line)?.activity);
    const wanted = names.flatMap((name) => Array.from({ length: 500 }, (_, n) => `${name} ${n + 1}`));
    expect([...seen].sort()).toEqual(wanted.sort());
  });
});
