import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CommandFailed, sendCommand, socketPaths } from "../../../src/sources/herrscher/index.ts";
import { EventFeed, type FeedState } from "../../../src/sources/herrscher/live.ts";
import { copyOfFixture, fixture } from "../../support/fixtures.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { until } from "../../support/until.ts";
import { expected } from "./expected.ts";
import { editState, evidenceOf, FakeDaemon, Followed, listOf, socketDirectory } from "./fake-daemon.ts";

const events = readFileSync(fixture("herrscher", "captures", "events-socket.ndjson"), "utf8")
  .trimEnd()
  .split("\n");
const commands = readFileSync(fixture("herrscher", "captures", "command-socket.ndjson"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as { request?: { argv: string[] }; rawRequest?: string; response: string });
const INCARNATION = "inc_H47VGEGNC7VMSRQ55RNFTEJ2ZH";

/** The root the captures were made on. */
function capturedRoot(extra: Record<string, unknown>[] = []): { dir: string; statePath: string } {
  const dir = temporaryDirectory();
  const statePath = join(dir, "state.json");
  const row = {
    id: "s_cap-one",
    incarnation: INCARNATION,
    name: "cap-one",
    channelID: "terminal/1",
    type: "text",
    cmd: "claude",
    vendor: "claude",
    gateways: ["terminal"],
  };
  const state = { home: { id: "terminal", type: "terminal" }, sessions: [row, ...extra], instanceID: "cap" };
  writeFileSync(statePath, JSON.stringify(state));
  return { dir, statePath };
}

async function listening(dir: string, tmp: string, daemon: FakeDaemon): Promise<Followed> {
  const followed = new Followed(dir, { TMPDIR: tmp, PATH: "" });
  followed.reader.onLive?.((delta) => void followed.take(delta));
  await followed.scan();
  await until(() => daemon.listeners === 1);
  return followed;
}

describe("the recorded events, one line after the other", () => {
  it("give the expected busy state after each", async () => {
    const { dir, statePath } = capturedRoot();
    const tmp = socketDirectory();
    const daemon = await FakeDaemon.start(tmp, "cap", () => listOf(statePath));
    const followed = await listening(dir, tmp, daemon);
    const before = treeHash(dir);
    const wanted = expected.captures.events.busyAfterEachLine;
    expect(wanted).toHaveLength(events.length);
    const seen: (boolean | null)[] = [];
    for (const [at, line] of events.entries()) {
      daemon.send(`${line}\n`);
      // Each line is taken in before the next is sent: the events view counts them.
      await until(async () => {
        const view = followed.reader.views("herrscher:cap-one").includes("events")
          ? await followed.reader.document("herrscher:cap-one", "events")
          : null;
        followed.take(followed.reader.tick(evidenceOf()));
        const table = view?.blocks.find((block) => block.type === "table");
        return (table?.rows.length ?? 0) === at + 1;
      });
      const { extra, status } = followed.get("cap-one");
      seen.push(extra.busy === null ? null : extra.busy === true);
      expect(status).toBe(wanted[at] ? "working" : "idle");
    }
    expect(seen).toEqual(wanted);
    expect(followed.get("cap-one")).toMatchObject({
      certainty: "recorded",
      panes: [{ agent: "claude", state: "idle" }],
    });
    expect(treeHash(dir)).toEqual(before);
  });

  it("what the turn does is the row's activity, and it is told without being asked for", async () => {
    const { dir, statePath } = capturedRoot();
    const tmp = socketDirectory();
    const daemon = await FakeDaemon.start(tmp, "cap", () => listOf(statePath));
    const followed = await listening(dir, tmp, daemon);
    // A line may come in pieces, and several in one.
    const text = `${events.slice(0, 3).join("\n")}\n`;
    daemon.send(text.slice(0, 100));
    daemon.send(text.slice(100));
    await until(() => followed.get("cap-one").activity === "Read src/app.ts");
    expect(followed.get("cap-one").why[0]).toMatch(/a turn runs since 16:10:00 \(events socket\)/u);
    daemon.send(`${events[3]}\n${events[4]}\n`);
    await until(() => followed.get("cap-one").status === "idle");
  });

  it("events of another incarnation of the name are not its own", async () => {
    const { dir, statePath } = capturedRoot();
    const tmp = socketDirectory();
    const daemon = await FakeDaemon.start(tmp, "cap", () => listOf(statePath));
    const followed = await listening(dir, tmp, daemon);
    daemon.send(
      `${(events[0] ?? "").replace(INCARNATION, "inc_OTHER")}\nnot json\n[]\n{"session":"../x","t":"human"}\n`,
    );
    daemon.send(`${JSON.stringify({ session: "other", t: "human", turn_id: "t" })}\n`);
    await until(() => followed.reader.views("herrscher:cap-one").includes("events"));
    followed.take(followed.reader.tick(evidenceOf()));
    expect(followed.get("cap-one")).toMatchObject({ status: "idle", certainty: "guess", panes: [] });
  });
});

describe("a daemon that goes wrong", () => {
  it("stops in the middle of a line: a time-out and a why, then another attempt", async () => {
    const tmp = socketDirectory();
    const daemon = await FakeDaemon.start(tmp, "", () => ({ ok: "[]" }));
    const states: FeedState[] = [];
    const seen: string[] = [];
    const feed = new EventFeed({
      path: () => daemon.paths.events,
      verify: async () => "go",
      event: (event) => void seen.push(event.t),
      state: (state) => void states.push(state),
      times: { stallMs: 50, leastWaitMs: 10, mostWaitMs: 20 },
    });
    feed.nudge();
    await until(() => daemon.listeners === 1);
    daemon.send('{"session":"a","t":"human"}\n{"session":"a","t":"rep');
    await until(() => states.some((state) => state.why.startsWith("the daemon stopped in the middle of a line")));
    await until(() => daemon.connections.events === 2 && feed.state.connected);
    daemon.send('{"session":"a","t":"reply","done":true}\n');
    await until(() => seen.length === 2);
    expect(seen).toEqual(["human", "reply"]);
    daemon.drop();
    await until(() => daemon.connections.events === 3 && feed.state.connected);
    feed.close();
  });

  it("hangs in the middle of a line: the rows go on, with a why", { timeout: 15_000 }, async () => {
    const { dir, statePath } = capturedRoot();
    const tmp = socketDirectory();
    let hangs = false;
    const daemon = await FakeDaemon.start(tmp, "cap", () => (hangs ? "hang" : listOf(statePath)));
    const followed = await listening(dir, tmp, daemon);
    daemon.send(`${events[0]}\n`);
    await until(() => followed.get("cap-one").status === "working");
    hangs = true;
    daemon.send('{"session":"cap-one","t":"rep');
    const asked = performance.now();
    followed.reader.tick(evidenceOf());
    await followed.reader.document("herrscher:cap-one", "events");
    expect(performance.now() - asked).toBeLessThan(500);
    await until(() => followed.get("cap-one").why.join().includes("did not answer"), Boolean, 10_000);
    expect(followed.get("cap-one")).toMatchObject({ status: "unknown", panes: [] });
    const view = await followed.reader.document("herrscher:cap-one", "events");
    expect(JSON.stringify(view)).toContain("the daemon stopped in the middle of a line (2 s)");
    hangs = false;
    await until(() => daemon.listeners === 1, Boolean, 10_000);
    await until(() => followed.get("cap-one").status === "idle");
  });

  it("is killed: what was busy is not known any more, and the row says stopped", async () => {
    const { dir, statePath } = capturedRoot();
    const tmp = socketDirectory();
    const daemon = await FakeDaemon.start(tmp, "cap", () => listOf(statePath));
    const followed = await listening(dir, tmp, daemon);
    daemon.send(`${events[0]}\n`);
    await until(() => followed.get("cap-one").status === "working");
    await daemon.stop();
    await until(() => followed.get("cap-one").status === "stopped");
    expect(followed.get("cap-one").panes).toEqual([]);
    // It comes back: noticed by its sockets at the next look.
    const again = await FakeDaemon.start(tmp, "cap", () => listOf(statePath));
    followed.take(followed.reader.tick(evidenceOf()));
    await until(() => again.listeners === 1);
    again.send(`${events[0]}\n`);
    await until(() => followed.get("cap-one").status === "working");
  });

  it("accepts and says nothing: unknown without its lock, up with it", { timeout: 15_000 }, async () => {
    const dir = copyOfFixture("herrscher", "main");
    const tmp = socketDirectory();
    await FakeDaemon.start(tmp, "studio", () => "hang");
    const followed = await new Followed(dir, { TMPDIR: tmp, PATH: "" }).scan();
    expect(followed.get("main")).toMatchObject({ status: "unknown", certainty: "guess" });
    expect(followed.get("main").why[0]).toContain("did not answer (2 s)");
    const held = await new Followed(dir, { TMPDIR: tmp, PATH: "" }).scan(evidenceOf(join(dir, ".state.json.lock")));
    expect(held.get("main")).toMatchObject({ status: "idle", certainty: "guess", can: [] });
    expect(held.get("main").why.join()).toContain("did not answer (2 s)");
  });

  it("belongs to another root: it is asked once and gets nothing else", async () => {
    const dir = copyOfFixture("herrscher", "main");
    const tmp = socketDirectory();
    const daemon = await FakeDaemon.start(tmp, "studio", () => ({ ok: '[{"name":"main","incarnation":"inc_OTHER"}]' }));
    const followed = new Followed(dir, { TMPDIR: tmp, PATH: "" });
    followed.reader.onLive?.(() => undefined);
    await followed.scan();
    expect(followed.get("main").status).toBe("stopped");
    expect(followed.get("main").why.join()).toContain("belongs to another root");
    for (let n = 0; n < 3; n += 1) followed.take(followed.reader.tick(evidenceOf()));
    expect(daemon.connections.events).toBe(0);
    expect(new Set(daemon.asked.map((argv) => argv.join(" ")))).toEqual(new Set(["session list --json"]));
    for (const action of followed.reader.actions("herrscher:main")) expect(action.disabled).not.toBeNull();
  });

  it("left its sockets behind: down", async () => {
    const dir = copyOfFixture("herrscher", "main");
    const tmp = socketDirectory();
    writeFileSync(join(tmp, "herrscher-command-studio.sock"), "");
    const followed = await new Followed(dir, { TMPDIR: tmp, PATH: "" }).scan();
    expect(followed.get("main").status).toBe("stopped");
    rmSync(join(tmp, "herrscher-command-studio.sock"));
  });

  it("takes over a name again: the new session has nothing of the old one's events", async () => {
    const { dir, statePath } = capturedRoot();
    const tmp = socketDirectory();
    const daemon = await FakeDaemon.start(tmp, "cap", () => listOf(statePath));
    const followed = await listening(dir, tmp, daemon);
    daemon.send(`${events[0]}\n`);
    await until(() => followed.get("cap-one").status === "working");
    editState(statePath, (sessions) => sessions.map((row) => ({ ...row, incarnation: "inc_NEW" })));
    followed.take(await followed.reader.apply([statePath], evidenceOf()));
    expect(followed.get("cap-one").status).toBe("idle");
  });
});

describe("the command socket", () => {
  it("every recorded request gets its recorded answer", async () => {
    const tmp = socketDirectory();
    const queue = commands.filter((one) => one.request !== undefined);
    let at = 0;
    const daemon = await FakeDaemon.start(tmp, "cap", () => ({ raw: `${queue[at]?.response}\n` }));
    const wanted = expected.captures.commands.filter((one) => one.argv !== null);
    expect(wanted).toHaveLength(queue.length);
    for (const [n, { argv, ok }] of wanted.entries()) {
      at = n;
      const answer = sendCommand(daemon.paths.command, argv ?? []);
      if (ok) expect(typeof (await answer)).toBe("string");
      else await expect(answer).rejects.toMatchObject({ kind: "err" });
      expect(daemon.asked.at(-1)).toEqual(queue[n]?.request?.argv);
    }
  });

  it.each([
    ["closes without an answer", "close", "malformed"],
    ["stops in the middle of its answer", { raw: '{"ok":"hal' }, "malformed"],
    ["answers something else", { raw: "hello\n" }, "malformed"],
    ["answers neither ok nor err", { raw: '{"yes":1}\n' }, "malformed"],
    ["never answers", "hang", "silent"],
    ["refuses", { err: "no" }, "err"],
  ] as const)("a daemon that %s", async (_name, answer, kind) => {
    const tmp = socketDirectory();
    const daemon = await FakeDaemon.start(tmp, "", () => answer);
    const failed = await sendCommand(daemon.paths.command, ["x"], { connectMs: 500, answerMs: 100 }).catch(
      (error: unknown) => error,
    );
    expect(failed).toBeInstanceOf(CommandFailed);
    expect(failed).toMatchObject({ kind });
  });

  it.each([
    [{ TMPDIR: "/t" }, "", "/t/herrscher-command.sock"],
    [{ TMPDIR: "/t" }, "studio", "/t/herrscher-command-studio.sock"],
    [{}, "", "/tmp/herrscher-command.sock"],
    [{}, "../../x", undefined],
    [{}, "UPPER", undefined],
  ])("lies where the program puts it: %j %j", (env, instance, path) => {
    expect(socketPaths(env, instance, "linux")?.command).toBe(path);
  });

  it("is a pipe on Windows", () => {
    expect(socketPaths({}, "studio", "win32")?.events).toBe("\\\\.\\pipe\\herrscher-events-studio");
  });
});
