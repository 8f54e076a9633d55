import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, realpathSync, statSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { CannotOpen } from "../../../files/open.ts";
import { replaceFile } from "../../../files/publish.ts";
import { stateDirectory } from "../../../memory/state-directory.ts";
import { readSmallFile } from "../read-small.ts";
import { CLAUDE_EVENTS } from "./claude.ts";
import { CODEX_EVENTS } from "./codex.ts";
import { BadSettings, commandsOf, type HookEntry, isOurs, withHooks, withoutHooks } from "./settings-edit.ts";

/** The agents whose settings we can edit. */
export type SettingsAgent = "claude" | "codex";

export const SETTINGS_AGENTS: readonly SettingsAgent[] = ["claude", "codex"];

const EVENTS: Record<SettingsAgent, Record<string, string>> = { claude: CLAUDE_EVENTS, codex: CODEX_EVENTS };

/** Where an agent keeps its hooks, honouring its own variable. null: neither that nor HOME is set. */
export function settingsPath(agent: SettingsAgent, env: NodeJS.ProcessEnv): string | null {
  const own = agent === "claude" ? env.CLAUDE_CONFIG_DIR : env.CODEX_HOME;
  const directory = own || (env.HOME ? join(env.HOME, `.${agent}`) : "");
  if (directory === "") return null;
  return join(directory, agent === "claude" ? "settings.json" : "hooks.json");
}

/** A change of an agent's settings, to be shown before it is made. */
export interface SettingsPlan {
  agent: SettingsAgent;
  path: string;
  /** Empty when the file is not there. */
  before: string;
  existed: boolean;
  /** null: the file goes, because we made it. */
  after: string | null;
  /** Where the file as it was before our first change is kept. */
  backup: string;
  /** What the person should know. */
  notes: string[];
}

const recordShape = z.object({ path: z.string(), existed: z.boolean(), installed: z.string() });

/** What is remembered of an installation: by it the file is given back exactly. */
type InstallRecord = z.infer<typeof recordShape>;

/** The settings with our hooks in them. `program` is how the agent's shell shall call us. Throws `BadSettings`. */
export function planInstall(agent: SettingsAgent, program: string, env: NodeJS.ProcessEnv): SettingsPlan {
  const plan = planOf(agent, env);
  const entries: HookEntry[] = Object.entries(EVENTS[agent]).map(([event, action]) => {
    return { event, command: `${program} hook ${agent} ${action}` };
  });
  if (!entries.every(({ command }) => isOurs(command, agent))) {
    throw new BadSettings(`${program} is not called forktail: its hooks could not be found again to take them out`);
  }
  const notes: string[] = [];
  if (commandsOf(plan.before).some(({ command }) => /questmaster/u.test(command))) {
    notes.push("questmaster's own hooks are installed too: each event will be logged twice");
  }
  if (agent === "codex") notes.push("Codex runs new hooks only after you have trusted them: it asks at its next start");
  return { ...plan, after: withHooks(plan.before, agent, entries), notes };
}

/** The settings as they were: byte for byte when nobody changed them since, else without our entries only. */
export function planUninstall(agent: SettingsAgent, env: NodeJS.ProcessEnv): SettingsPlan {
  const plan = planOf(agent, env);
  const record = readRecord(agent, env);
  const original = record?.path === plan.path && record.existed ? textOf(plan.backup) : "";
  if (record !== null && record.path === plan.path && digest(plan.before) === record.installed) {
    return { ...plan, after: record.existed ? original : null };
  }
  return { ...plan, after: plan.existed ? withoutHooks(plan.before, agent, original || "{}") : null };
}

export interface HookStatus {
  agent: SettingsAgent;
  path: string;
  state: "installed" | "partly" | "not installed" | "unreadable";
  detail: string;
}

/** Whether our hooks are in an agent's settings. Reads only. */
export function hookStatus(agent: SettingsAgent, env: NodeJS.ProcessEnv): HookStatus {
  const path = settingsPath(agent, env) ?? "";
  const events = Object.keys(EVENTS[agent]);
  try {
    const commands = commandsOf(textOf(path));
    const ours = new Set(commands.filter(({ command }) => isOurs(command, agent)).map(({ event }) => event));
    const missing = events.filter((event) => !ours.has(event));
    if (ours.size === 0) return { agent, path, state: "not installed", detail: "" };
    if (missing.length > 0) return { agent, path, state: "partly", detail: `without ${missing.join(", ")}` };
    return { agent, path, state: "installed", detail: `${events.length} events` };
  } catch (error) {
    return { agent, path, state: "unreadable", detail: error instanceof Error ? error.message : String(error) };
  }
}

/** Makes the change, if the file is still what was shown. Keeps the backup first. Throws with what to do. */
export async function carryOut(plan: SettingsPlan, env: NodeJS.ProcessEnv): Promise<void> {
  const { agent, path, after, backup } = plan;
  if (textOf(path) !== plan.before || isThere(path) !== plan.existed) {
    throw new Error(`${path} has changed since it was shown: nothing was written, run it again`);
  }
  if (after !== null && hasOurs(after, agent)) {
    await remember(plan, after, env);
    mkdirSync(dirname(path), { recursive: true });
    await replaceFile(targetOf(path), after, { mode: modeOf(path) });
    return;
  }
  // The backup is only of no use any more when the file is what it was.
  const restored = after === null || after === textOf(backup);
  if (after !== null) await replaceFile(targetOf(path), after, { mode: modeOf(path) });
  else if (plan.existed) unlinkSync(path);
  for (const left of [recordPath(agent, env), ...(restored ? [backup] : [])]) if (isThere(left)) unlinkSync(left);
}

/** Writes down what the file is without us, so that taking our hooks out gives back exactly that. */
async function remember(plan: SettingsPlan, after: string, env: NodeJS.ProcessEnv): Promise<void> {
  const { agent, path, before, backup } = plan;
  mkdirSync(backupDirectory(env), { recursive: true, mode: 0o700 });
  const known = readRecord(agent, env);
  const again = known?.path === path && hasOurs(before, agent);
  const existed = again ? known.existed : plan.existed;
  const untouched = again && digest(before) === known.installed;
  const original = untouched
    ? textOf(backup)
    : hasOurs(before, agent)
      ? withoutHooks(before, agent, textOf(backup) || "{}")
      : before;
  if (existed) await replaceFile(backup, original, { mode: 0o600 });
  const record: InstallRecord = { path, existed, installed: digest(after) };
  await replaceFile(recordPath(agent, env), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
}

function hasOurs(text: string, agent: SettingsAgent): boolean {
  return commandsOf(text).some(({ command }) => isOurs(command, agent));
}

function planOf(agent: SettingsAgent, env: NodeJS.ProcessEnv): Omit<SettingsPlan, "after"> {
  const path = settingsPath(agent, env);
  if (path === null) throw new BadSettings("no home directory: set HOME");
  const backup = join(backupDirectory(env), agent === "claude" ? "claude-settings.json" : "codex-hooks.json");
  return { agent, path, before: textOf(path), existed: isThere(path), backup, notes: [] };
}

function backupDirectory(env: NodeJS.ProcessEnv): string {
  return join(stateDirectory(env), "hook-backups");
}

function recordPath(agent: SettingsAgent, env: NodeJS.ProcessEnv): string {
  return join(backupDirectory(env), `${agent}-installed.json`);
}

function readRecord(agent: SettingsAgent, env: NodeJS.ProcessEnv): InstallRecord | null {
  const text = textOf(recordPath(agent, env));
  if (text === "") return null;
  const parsed = recordShape.safeParse(JSON.parse(text));
  return parsed.success ? parsed.data : null;
}

/** The text of a settings file, through the link that people who keep them elsewhere have there; empty when it is not there. */
function textOf(path: string): string {
  try {
    return path === "" ? "" : readSmallFile(targetOf(path)).text;
  } catch (error) {
    if (error instanceof CannotOpen && error.kind === "gone") return "";
    throw error;
  }
}

function targetOf(path: string): string {
  return isThere(path) ? realpathSync(path) : path;
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function modeOf(path: string): number {
  return isThere(path) ? statSync(path).mode & 0o777 : 0o600;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
