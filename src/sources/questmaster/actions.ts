import { lstatSync, rmdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { withFlock } from "../../files/flock.ts";
import { compactJson, indentedJson, membersOf, rawObject } from "../../files/raw-json.ts";
import { findProgram, runProgram } from "../../probe/program.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { cleanLine, cleanText } from "../../session/untrusted.ts";
import type { ActionInput, SourceAction } from "../source.ts";
import { isHooked } from "./liveness.ts";
import { sessionStateDir } from "./paths.ts";
import { readSmallFile } from "./read-small.ts";
import { COLORS, type Repo } from "./repo.ts";
import { type Held, primaryPane } from "./snapshot.ts";
import { openStore } from "./store.ts";
import { readScreen, relay } from "./talk.ts";
import { nanoTime } from "./time.ts";
import { replaceUnderLock } from "./write.ts";

const PROGRAM_TIMEOUT_MS = 60_000;
const READ_LINES = 200;
/** What the tracker's composer takes (questmaster.md §13). */
const MOST_MESSAGE = 500;

/** What the actions of one session are made from. */
export interface ActionFacts {
  held: Held;
  snapshot: Snapshot;
  live: boolean;
  /** Its workers with a manifest. */
  workers: readonly { id: string; title: string; live: boolean }[];
  repo: Repo | null;
  env: NodeJS.ProcessEnv;
}

/** Everything the tracker can do to a session (questmaster.md §12, §13). Talking needs only tmux, the rest the program. */
export function actionsOf(facts: ActionFacts): SourceAction[] {
  const { held, snapshot } = facts;
  if (isHooked(held.manifest)) return [forgetAction(facts)];
  const actions = [relayAction(facts), readAction(facts)];
  if (snapshot.extra.type === "master" || facts.workers.length > 0)
    actions.push(broadcastAction(facts), memberRelayAction(facts));
  if (snapshot.extra.type === "master") actions.push(spawnAction(facts));
  else actions.push(promoteAction(facts));
  actions.push(continueAction(facts), colorAction(facts));
  if (facts.repo !== null) actions.push(repoColorAction(facts, facts.repo));
  actions.push(deleteAction(facts));
  return actions;
}

const message: ActionInput = {
  name: "text",
  label: "message",
  check: (value) => (value.trim() === "" ? "write something first" : null),
};

function relayAction({ held, live, env }: ActionFacts): SourceAction {
  return {
    id: "questmaster.relay",
    title: "send a message to its agent",
    disabled: live ? null : "its tmux session is not there: continue it first",
    inputs: [message],
    says: ({ text = "" }) => [`types into the pane of ${held.id}, followed by Enter:`, cleanText(text)],
    run: async ({ text = "" }) => await relay(held.id, text, env),
  };
}

function readAction({ held, live, env }: ActionFacts): SourceAction {
  const recent = primaryPane(held.stateFile)?.recent ?? [];
  return {
    id: "questmaster.read",
    title: "read its screen",
    disabled: live || recent.length > 0 ? null : "its tmux session is not there",
    inputs: [],
    says: () => [`shows the last ${READ_LINES} lines of ${held.id}; changes nothing`],
    // What pi and opencode reported is cleaner than their screen (questmaster.md §10).
    run: async () => (recent.length > 0 ? recent.map(cleanLine) : await readScreen(held.id, READ_LINES, env)),
  };
}

function broadcastAction({ workers, env }: ActionFacts): SourceAction {
  const live = workers.filter((one) => one.live);
  return {
    id: "questmaster.broadcast",
    title: "send a message to all its workers",
    disabled: live.length > 0 ? null : "none of its workers is live",
    inputs: [message],
    says: ({ text = "" }) => [`types into ${live.length} panes:`, ...live.map(named), cleanText(text)],
    run: async ({ text = "" }) => {
      const done: string[] = [];
      for (const worker of live) {
        try {
          done.push(...(await relay(worker.id, text, env)));
        } catch (error) {
          done.push(`not to ${worker.id}: ${error instanceof Error ? error.message : String(error)}`);
        }
      }
      return done;
    },
  };
}

function memberRelayAction({ workers, env }: ActionFacts): SourceAction {
  return {
    id: "questmaster.relay-worker",
    title: "send a message to this worker",
    view: "team",
    disabled: workers.some((one) => one.live) ? null : "none of its workers is live",
    inputs: [message],
    says: ({ text = "" }, target) => [`types into the pane of ${target ?? "no worker"}:`, cleanText(text)],
    run: async ({ text = "" }, target) => {
      if (target === null || !workers.some((one) => one.id === target)) throw new Error("choose a worker first");
      return await relay(target, text, env);
    },
  };
}

function spawnAction(facts: ActionFacts): SourceAction {
  const { held } = facts;
  const args = ({ title = "", prompt = "" }: Record<string, string>): string[] => [
    "spawn",
    ...(prompt.trim() === "" ? [] : ["--prompt", prompt]),
    "--",
    held.id,
    title.trim() || "worker",
  ];
  return {
    id: "questmaster.spawn",
    title: "spawn a worker",
    disabled: needsProgram(facts),
    inputs: [
      { name: "title", label: "title" },
      { name: "prompt", label: "first prompt", check: (value) => tooLong(value) },
    ],
    says: (values) => [
      "starts an agent like the master's in a tmux session of its own, in the master's directory",
      `runs questmaster ${args(values).map(cleanLine).join(" ")}`,
    ],
    run: async (values) => await questmaster(args(values), facts),
  };
}

function promoteAction(facts: ActionFacts): SourceAction {
  const { held, live } = facts;
  return {
    id: "questmaster.promote",
    title: "promote to a master",
    disabled: live ? needsProgram(facts) : "only a live session can be promoted: continue it first",
    inputs: [],
    says: () => [
      `makes ${held.id} a master, so that it can have workers, and tells its agent by typing into its pane`,
      `runs questmaster promote ${held.id}`,
    ],
    run: async () => await questmaster(["promote", held.id], facts),
  };
}

function continueAction(facts: ActionFacts): SourceAction {
  const { held, live, snapshot } = facts;
  const noAgent = held.manifest.agents.length === 0 ? "its manifest names no agent" : null;
  return {
    id: "questmaster.continue",
    title: "continue in its tmux session",
    disabled: live ? "it is live: go to its pane" : (noAgent ?? needsProgram(facts)),
    inputs: [],
    says: () => [
      `builds the tmux session ${held.id} again${snapshot.resume ? " and resumes its conversation" : ", with a new conversation: no resume id is recorded"}`,
      ...(snapshot.extra.type === "master" ? ["and continues each of its workers that is not live"] : []),
      `runs questmaster continue ${held.id}`,
    ],
    run: async () => await questmaster(["continue", held.id], facts),
  };
}

function colorAction({ held, env }: ActionFacts): SourceAction {
  return {
    id: "questmaster.color",
    title: "colour the session",
    disabled:
      held.manifest.sessionType !== "master" && held.manifest.extra.has("parent_session")
        ? "workers have the colour of their master"
        : null,
    inputs: [{ name: "color", label: "colour", choices: ["none", ...COLORS] }],
    says: ({ color = "none" }) => [`sets display.color of ${held.path} to ${color}, under its lock`],
    run: async ({ color = "none" }) => {
      checkColor(color);
      await openStore(held.root.path, { env }).update(held.id, (manifest) => {
        const display = membersOf(manifest.extra.get("display") ?? "{}");
        if (color === "none") display.delete("color");
        else display.set("color", JSON.stringify(color));
        display.set("color_changed_at", JSON.stringify(nanoTime(BigInt(Date.now()) * 1_000_000n)));
        manifest.extra.set("display", compactJson(rawObject(display)));
      });
      return [`${held.id} is ${color === "none" ? "without a colour" : color} now`];
    },
  };
}

function repoColorAction({ held, env }: ActionFacts, repo: Repo): SourceAction {
  const path = join(held.root.path, "repo-colors.json");
  return {
    id: "questmaster.repo-color",
    title: `colour the repository ${cleanLine(repo.name)}`,
    disabled: null,
    inputs: [{ name: "color", label: "colour", choices: ["none", ...COLORS] }],
    says: ({ color = "none" }) => [
      `sets the colour of ${cleanLine(repo.identity)} in ${path} to ${color}, under its lock`,
    ],
    run: async ({ color = "none" }) => {
      checkColor(color);
      const set = (): void => {
        const there = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
        const colors = membersOf(there ? readSmallFile(path).text : "{}");
        const updated_at = nanoTime(BigInt(Date.now()) * 1_000_000n);
        if (color === "none") colors.delete(repo.identity);
        else colors.set(repo.identity, JSON.stringify({ color, updated_at }));
        replaceUnderLock(path, `${indentedJson(rawObject(colors))}\n`);
      };
      await withFlock(`${path}.lock`, set, { env });
      return [`${cleanLine(repo.name)} is ${color === "none" ? "without a colour" : color} now`];
    },
  };
}

function deleteAction(facts: ActionFacts): SourceAction {
  const { held, live, workers, snapshot } = facts;
  const doomed = snapshot.extra.type === "master" ? workers : [];
  return {
    id: "questmaster.delete",
    title: "delete",
    disabled: needsProgram(facts),
    inputs: [],
    says: () => [
      ...(live ? [`kills the tmux session ${held.id} and the agent in it`] : []),
      `removes the manifest ${held.path}`,
      `removes ${sessionStateDir(held.root.path, held.id)} with its state and events (releases before v0.3.16 leave it)`,
      ...doomed.map((one) => `and the same for its worker ${named(one)}${one.live ? ", which is live" : ""}`),
      "The agent's own conversation stays.",
      `runs questmaster delete ${held.id}`,
    ],
    run: async () => await questmaster(["delete", held.id], facts),
  };
}

/** A session that only our own hooks know: its files are ours, so they need no other program. */
function forgetAction({ held, live, env }: ActionFacts): SourceAction {
  const directory = sessionStateDir(held.root.path, held.id);
  return {
    id: "questmaster.forget",
    title: "forget what the hooks wrote",
    disabled: live ? "its agent is running and would write it again" : null,
    inputs: [],
    says: () => [`removes ${held.path}`, `removes ${directory}`, "The agent's own conversation stays."],
    run: async () => {
      for (const name of ["state.json", "state.jsonl", "state.jsonl.1", "state.json.lock"])
        removeFile(join(directory, name));
      if (lstatSync(directory, { throwIfNoEntry: false })) rmdirSync(directory);
      await openStore(held.root.path, { env }).delete(held.id);
      return [`${held.id} is forgotten`];
    },
  };
}

function removeFile(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })) unlinkSync(path);
}

function checkColor(color: string): void {
  if (color !== "none" && !COLORS.includes(color))
    throw new Error(`there is no colour ${cleanLine(color)}: ${COLORS.join(", ")}`);
}

function needsProgram({ env }: ActionFacts): string | null {
  return findProgram("questmaster", env) === null ? "the questmaster program is not on PATH" : null;
}

function tooLong(value: string): string | null {
  return value.length > MOST_MESSAGE ? `at most ${MOST_MESSAGE} characters` : null;
}

async function questmaster(args: readonly string[], { held, env: ours }: ActionFacts): Promise<string[]> {
  const env = { ...ours, QUESTMASTER_STATE_ROOT: held.root.path };
  const program = findProgram("questmaster", env);
  if (program === null) throw new Error("the questmaster program is not on PATH");
  const { code, stdout, stderr } = await runProgram(program, args, { env, timeoutMs: PROGRAM_TIMEOUT_MS });
  const lines = cleanText(stdout)
    .split("\n")
    .filter((line) => line.trim() !== "");
  if (code === 0) return lines.length > 0 ? lines : [`questmaster ${args[0]} is done`];
  throw new Error(
    `questmaster ${args[0]} failed (${code}): ${cleanLine(stderr) || cleanLine(stdout) || "it said nothing"}`,
  );
}

function named(one: { id: string; title: string }): string {
  return one.title === one.id ? one.id : `${cleanLine(one.title)} (${one.id})`;
}
