import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { listPanes } from "../../../src/probe/tmux.ts";
import { manifestText, newManifest, parseManifest, setExtra } from "../../../src/sources/questmaster/index.ts";
import { HOOKED } from "../../../src/sources/questmaster/liveness.ts";
import { readScreen, relay } from "../../../src/sources/questmaster/talk.ts";
import type { SourceAction } from "../../../src/sources/source.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { until } from "../../support/until.ts";
import { evidenceOf, Reading } from "./reading.ts";

const ID = "qm-42";

/** A tmux server of its own, whose environment is all that tests hand on. */
function server(): NodeJS.ProcessEnv {
  const env = { PATH: process.env.PATH, TMUX_TMPDIR: temporaryDirectory(), HOME: temporaryDirectory(), TERM: "xterm" };
  onTestFinished(() => void spawnSync("tmux", ["kill-server"], { env }));
  return env;
}

/** A session as v0.2.2 – v0.3.34 lay them out: tracker and primary, which writes what it is sent into a file. */
function session(env: NodeJS.ProcessEnv, id = ID): { heard: () => string } {
  const file = join(env.HOME ?? "", `${id}.heard`);
  const tmux = (...args: string[]) => execFileSync("tmux", args, { env });
  tmux("-f", "/dev/null", "new-session", "-d", "-s", id, "-x", "80", "-y", "24", "cat");
  tmux("split-window", "-t", `=${id}:0.0`, `cat > ${file}`);
  tmux("set-option", "-p", "-t", `=${id}:0.0`, "@party_role", "tracker");
  tmux("set-option", "-p", "-t", `=${id}:0.1`, "@party_role", "primary");
  return { heard: () => (existsSync(file) ? readFileSync(file, "utf8") : "") };
}

describe("relay", () => {
  it("types into the pane with the role primary, then Enter", async () => {
    const env = server();
    const { heard } = session(env);
    expect(await relay(ID, "fix -l; $(touch x) `y` \u001b[31m", env)).toEqual([`sent it to ${ID}`]);
    expect(await until(heard, (text) => text.endsWith("\n"))).toBe("fix -l; $(touch x) `y` ·[31m\n");
  });

  it("says from whom when forktail runs in a session of its own", async () => {
    const env = { ...server(), QUESTMASTER_SESSION: "qm-7" };
    const { heard } = session(env);
    await relay(ID, "hello", env);
    expect(await until(heard, (text) => text.endsWith("\n"))).toBe("[FROM:qm-7] hello\n");
  });

  it.each([
    ["of more than 200 bytes", "ü".repeat(101)],
    ["of several lines", "one\ntwo"],
  ])("hands text %s over in a private file", async (_name, text) => {
    const env = server();
    const { heard } = session(env);
    const [wrote = ""] = await relay(ID, text, env);
    const file = wrote.replace("wrote the text to ", "");
    onTestFinished(() => rmSync(file));
    expect(readFileSync(file, "utf8")).toBe(`${text}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const line = await until(heard, (one) => one.endsWith("\n"));
    expect(line).toContain(file);
    expect(line.trimEnd()).not.toContain("\n");
  });

  it("waits while the pane is scrolled back", async () => {
    const env = server();
    const { heard } = session(env);
    execFileSync("tmux", ["copy-mode", "-t", `=${ID}:0.1`], { env });
    const sending = relay(ID, "late", env);
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(heard()).toBe("");
    execFileSync("tmux", ["send-keys", "-t", `=${ID}:0.1`, "-X", "cancel"], { env });
    await sending;
    expect(await until(heard, (text) => text.endsWith("\n"))).toBe("late\n");
  });

  it("never reaches a session whose name only begins like the id", async () => {
    const env = server();
    const { heard } = session(env, `${ID}-77`);
    await expect(relay(ID, "hello", env)).rejects.toThrow(/no tmux session qm-42/u);
    expect(heard()).toBe("");
  });

  it.each([
    ["a name that is no id", "x; kill-server", "hello", /not a session id/u],
    ["nothing to say", ID, " \n ", /nothing to send/u],
  ])("refuses %s", async (_name, id, text, message) => {
    const env = server();
    session(env);
    await expect(relay(id, text, env)).rejects.toThrow(message);
  });

  it("says when tmux is missing", async () => {
    await expect(relay(ID, "hello", { PATH: "/nonexistent" })).rejects.toThrow(/tmux is not installed/u);
  });
});

describe("reading a screen", () => {
  it("returns its last lines, cleaned", async () => {
    const env = server();
    session(env);
    execFileSync("tmux", ["send-keys", "-t", `=${ID}:0.1`, "-l", "--", "what it shows"], { env });
    const lines = await until(
      () => readScreen(ID, 5, env),
      (seen) => seen.length > 0,
    );
    expect(lines).toEqual(["what it shows"]);
  });
});

interface Setup {
  root: string;
  env: NodeJS.ProcessEnv;
  calls: () => string[][];
}

/** A root with a master, two workers and a fake questmaster on PATH that writes down how it was called. */
function setup(program = true): Setup {
  const root = temporaryDirectory();
  const bin = temporaryDirectory();
  const log = join(bin, "calls");
  const master = newManifest("qm-1", { title: "lead", sessionType: "master", workers: ["qm-2", "qm-9"] });
  master.agents.push({ name: "claude", role: "primary", cli: "claude", resumeID: "a-1", window: 0, extra: new Map() });
  const worker = newManifest("qm-2", { title: "helper" });
  setExtra(worker, "parent_session", "qm-1");
  const alone = newManifest("qm-3", { title: "alone" });
  for (const one of [master, worker, alone]) writeFileSync(join(root, `${one.partyID}.json`), manifestText(one));
  if (program) {
    const script = `#!/bin/sh\nprintf '%s\\0' "$QUESTMASTER_STATE_ROOT" "$@" >> ${log}\nprintf '\\n' >> ${log}\n[ "$2" = qm-3 ] && { echo no such thing >&2; exit 3; }\necho did it\n`;
    writeFileSync(join(bin, "questmaster"), script);
    chmodSync(join(bin, "questmaster"), 0o755);
  }
  const calls = () =>
    (existsSync(log) ? readFileSync(log, "utf8") : "")
      .split("\n")
      .slice(0, -1)
      .map((line) => line.split("\0").slice(0, -1));
  return { root, env: { PATH: program ? `${bin}:/usr/bin:/bin` : "/usr/bin:/bin" }, calls };
}

async function actionOf({ root, env }: Setup, id: string, name: string, live: string[] = []): Promise<SourceAction> {
  const reading = await new Reading(root, env).scan(evidenceOf(live));
  const action = reading.reader.actions(`questmaster:${id}`).find((one) => one.id === `questmaster.${name}`);
  if (!action) throw new Error(`${id} has no action ${name}`);
  return action;
}

describe("actions through the program", () => {
  it.each([
    ["qm-1", "delete", {}, ["delete", "qm-1"]],
    ["qm-1", "continue", {}, ["continue", "qm-1"]],
    ["qm-1", "spawn", { title: "-x y", prompt: "$(go)" }, ["spawn", "--prompt", "$(go)", "--", "qm-1", "-x y"]],
    ["qm-1", "spawn", {}, ["spawn", "--", "qm-1", "worker"]],
  ])("%s %s runs it with exact arguments in the right root", async (id, name, values, args) => {
    const made = setup();
    expect(await (await actionOf(made, id, name)).run(values, null)).toEqual(["did it"]);
    expect(made.calls()).toEqual([[made.root, ...args]]);
  });

  it("promotes a live session only", async () => {
    const made = setup();
    expect((await actionOf(made, "qm-2", "promote")).disabled).toMatch(/only a live/u);
    const action = await actionOf(made, "qm-2", "promote", ["qm-2"]);
    expect(action.disabled).toBeNull();
    await action.run({}, null);
    expect(made.calls()).toEqual([[made.root, "promote", "qm-2"]]);
  });

  it("says what it said when it fails", async () => {
    const action = await actionOf(setup(), "qm-3", "delete");
    await expect(action.run({}, null)).rejects.toThrow("questmaster delete failed (3): no such thing");
  });

  it("before deleting a master lists everything that goes", async () => {
    const made = setup();
    const says = (await actionOf(made, "qm-1", "delete", ["qm-1", "qm-2"])).says({}, null).join("\n");
    expect(says).toContain("kills the tmux session qm-1");
    expect(says).toContain(join(made.root, "qm-1.json"));
    expect(says).toContain("its worker helper (qm-2), which is live");
  });

  it.each(["delete", "spawn", "continue"])("cannot %s without it, and says so", async (name) => {
    expect((await actionOf(setup(false), "qm-1", name)).disabled).toMatch(/not on PATH/u);
  });

  it("cannot continue what is live", async () => {
    expect((await actionOf(setup(), "qm-1", "continue", ["qm-1"])).disabled).toMatch(/it is live/u);
  });
});

describe("actions that need only tmux", () => {
  it("a broadcast reaches every live worker, and says whom it missed", async () => {
    const made = setup(false);
    const env = server();
    const { heard } = session(env, "qm-2");
    made.env = env;
    const evidence = { ...evidenceOf(), tmux: await listPanes(2000, env) };
    const reading = await new Reading(made.root, env).scan(evidence);
    const action = reading.reader.actions("questmaster:qm-1").find((one) => one.id === "questmaster.broadcast");
    expect(action?.says({ text: "stop" }, null)).toEqual(["types into 1 panes:", "helper (qm-2)", "stop"]);
    expect(await action?.run({ text: "stop" }, null)).toEqual(["sent it to qm-2"]);
    expect(await until(heard, (text) => text.endsWith("\n"))).toBe("stop\n");
    expect(reading.row("qm-2").livePane).toBe(evidence.tmux.panes.find((one) => one.role === "primary")?.id);
    execFileSync("tmux", ["kill-server"], { env });
    expect((await action?.run({ text: "stop" }, null))?.join()).toMatch(/^not to qm-2/u);
  });

  it("a message goes to a worker that is chosen in the team view, and to no other session", async () => {
    const action = await actionOf(setup(false), "qm-1", "relay-worker", ["qm-2"]);
    expect(action.view).toBe("team");
    await expect(action.run({ text: "x" }, "qm-3")).rejects.toThrow(/choose a worker/u);
  });

  it("nothing can be sent to what is stopped", async () => {
    expect((await actionOf(setup(false), "qm-1", "relay")).disabled).toMatch(/continue it first/u);
  });
});

describe("colours", () => {
  it("of a session are set under the manifest's lock and keep the rest", async () => {
    const made = setup();
    const path = join(made.root, "qm-1.json");
    const before = parseManifest("qm-1", readFileSync(path, "utf8"));
    const action = await actionOf(made, "qm-1", "color");
    await action.run({ color: "teal" }, null);
    const after = parseManifest("qm-1", readFileSync(path, "utf8"));
    expect(JSON.parse(after.extra.get("display") ?? "")).toMatchObject({ color: "teal" });
    expect({ ...after, extra: new Map(), updatedAt: "", createdAt: "" }).toEqual({
      ...before,
      updatedAt: "",
      createdAt: "",
    });
    expect((await new Reading(made.root).scan()).row("qm-1").extra.color).toBe("teal");
    await action.run({ color: "none" }, null);
    expect((await new Reading(made.root).scan()).row("qm-1").extra.color).toBeNull();
    await expect(action.run({ color: "\u001b" }, null)).rejects.toThrow(/no colour/u);
  });

  it("of a repository are set in repo-colors.json", async () => {
    const made = setup();
    const cwd = join(temporaryDirectory(), "web");
    mkdirSync(join(cwd, ".git"), { recursive: true });
    writeFileSync(join(made.root, "qm-3.json"), manifestText(newManifest("qm-3", { cwd })));
    writeFileSync(
      join(made.root, "repo-colors.json"),
      '{"/other/.git":{"color":"red","updated_at":"x","keep":12345678901234567890}}',
    );
    const action = await actionOf(made, "qm-3", "repo-color");
    await action.run({ color: "lime" }, null);
    expect(readFileSync(join(made.root, "repo-colors.json"), "utf8")).toContain("12345678901234567890");
    expect((await new Reading(made.root).scan()).row("qm-3").extra.color).toBe("lime");
  });

  it("of a worker are its master's", async () => {
    expect((await actionOf(setup(), "qm-2", "color")).disabled).toMatch(/master/u);
  });
});

describe("a session that only our hooks know", () => {
  it("has no tmux name, and can be forgotten with all its files", async () => {
    const root = temporaryDirectory();
    const manifest = newManifest("qm-h1", { title: "t" });
    setExtra(manifest, HOOKED.by, "forktail");
    setExtra(manifest, HOOKED.pid, "1");
    writeFileSync(join(root, "qm-h1.json"), manifestText(manifest));
    mkdirSync(join(root, "qm-h1"));
    writeFileSync(join(root, "qm-h1", "state.jsonl"), "");
    const evidence = { ...evidenceOf(["qm-h1"]), processes: { all: [], byPid: new Map() } };
    const reading = await new Reading(root, { PATH: process.env.PATH }).scan(evidence);
    expect(reading.row("qm-h1")).toMatchObject({ status: "stopped", can: ["delete"] });
    const [forget] = reading.reader.actions("questmaster:qm-h1");
    await forget?.run({}, null);
    expect(readdirSync(root)).toEqual([]);
  });
});
