import { execFileSync, spawn, spawnSync } from "node:child_process";
import { watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { noEvidence } from "../../../src/probe/evidence.ts";
import { listPanes } from "../../../src/probe/tmux.ts";
import { initStartingState, newManifest, newStore, sessionStatePath } from "../../../src/sources/questmaster/index.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { until } from "../../support/until.ts";
import { Reading } from "./reading.ts";

const ID = "qm-1784547000";

it("a fake agent in a real tmux starts, works, asks, ends and is seen, each within the blink of a hook", async () => {
  const home = temporaryDirectory();
  const root = join(home, "state");
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    HOME: home,
    TMUX_TMPDIR: home,
    TERM: "xterm",
    QUESTMASTER_STATE_ROOT: root,
    QUESTMASTER_SESSION: ID,
  };
  onTestFinished(() => void spawnSync("tmux", ["kill-server"], { env }));
  await newStore(root).create(newManifest(ID, { title: "live", cwd: home }));
  await initStartingState(ID, { primary: "claude" }, { root });
  execFileSync("tmux", ["-f", "/dev/null", "new-session", "-d", "-s", ID, "cat"], { env });
  execFileSync("tmux", ["set-option", "-p", "-t", `=${ID}:0.0`, "@party_role", "primary"], { env });

  const program = join(home, "hook.ts");
  const command = new URL("../../../src/commands/hook.ts", import.meta.url).href;
  writeFileSync(
    program,
    `import { runHook } from ${JSON.stringify(command)};\nawait runHook("claude", process.argv[2], process.stdin, process.env);\n`,
  );
  /** The hook as an agent calls it: a process of its own, its JSON on standard input. */
  const hook = (action: string, payload: object): Promise<number | null> => {
    const child = spawn(process.execPath, [program, action], { env, stdio: ["pipe", "inherit", "inherit"] });
    child.stdin.end(JSON.stringify(payload));
    return new Promise((resolve) => child.once("exit", resolve));
  };
  const look = async () => ({ ...noEvidence(Date.now()), tmux: await listPanes(2000, env) });

  const reading = await new Reading(root, env).scan(await look());
  let written = 0;
  const watcher = watch(join(root, ID), async (_event, name) => {
    if (name !== "state.json") return;
    written = performance.now();
    await reading.apply([sessionStatePath(root, ID)], await look());
  });
  onTestFinished(() => watcher.close());
  const becomes = async (status: string): Promise<number> => {
    await until(
      () => reading.row(ID).status,
      (seen) => seen === status,
    );
    return performance.now() - written;
  };

  expect(reading.row(ID)).toMatchObject({
    status: "idle",
    native: "starting",
    livePane: expect.stringMatching(/^%\d+$/u),
  });
  expect(await hook("working", { prompt: "go" })).toBe(0);
  await becomes("working");
  await hook("tool_start", {
    tool_name: "AskUserQuestion",
    tool_input: { questions: [{ question: "Tea or coffee?" }] },
  });
  expect(await becomes("needs-input")).toBeLessThan(300);
  expect(reading.row(ID).activity).toBe("Question: Tea or coffee?");
  await hook("tool_end", {});
  await hook("done", { last_assistant_message: "Tea it is." });
  await becomes("done");
  reading.seen.set(`questmaster:${ID}`, String(reading.row(ID).extra.seenMark));
  reading.tick(await look());
  expect(reading.row(ID)).toMatchObject({ status: "idle", native: "done", activity: "Tea it is." });
  execFileSync("tmux", ["kill-session", "-t", `=${ID}`], { env });
  reading.tick(await look());
  expect(reading.row(ID)).toMatchObject({ status: "stopped", livePane: null, activity: null });
});
