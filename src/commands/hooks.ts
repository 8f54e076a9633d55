import { createInterface } from "node:readline/promises";
import { createTwoFilesPatch } from "diff";
import { findProgram } from "../probe/program.ts";
import { cleanText, jsonText } from "../session/untrusted.ts";
import {
  carryOut,
  type HookStatus,
  hookStatus,
  planInstall,
  planUninstall,
  SETTINGS_AGENTS,
  type SettingsAgent,
  type SettingsPlan,
} from "../sources/questmaster/hooks/install.ts";
import { WrongUsage } from "./wrong-usage.ts";

export interface HooksOptions {
  /** `--yes`: shown all the same, not asked. */
  yes?: boolean;
  json?: boolean;
}

/** What the command needs of the outside. */
export interface HooksSurroundings {
  env: NodeJS.ProcessEnv;
  /** How an agent's shell calls this program. */
  program: string;
  print(text: string): void;
  /** null: nobody is there to be asked. */
  confirm: ((question: string) => Promise<boolean>) | null;
}

const ACTIONS = ["install", "status", "uninstall"];

/**
 * `forktail hooks install|status|uninstall [AGENT…]`: puts our hooks into the settings of Claude Code and Codex, or takes
 * them out again, after showing the change. Returns the exit code; throws `WrongUsage` and errors that say what to do.
 */
export async function hooksCommand(
  options: HooksOptions,
  action: string,
  agents: readonly string[],
  surroundings: HooksSurroundings = ourSurroundings(),
): Promise<number> {
  if (!ACTIONS.includes(action)) throw new WrongUsage(`hooks ${action}: say install, status or uninstall`);
  const chosen = agents.length === 0 ? SETTINGS_AGENTS : agents.map(agentOf);
  if (action === "status") return status(chosen, options, surroundings);
  const done: { agent: string; path: string; changed: boolean }[] = [];
  let declined = false;
  for (const agent of chosen) {
    const plan = planOf(action, agent, surroundings);
    const { path } = plan;
    if (plan.after === plan.before || (plan.after === null && !plan.existed)) {
      if (!options.json) surroundings.print(`${agent}: nothing to change in ${path}`);
      done.push({ agent, path, changed: false });
      continue;
    }
    if (!options.json) surroundings.print(shown(plan));
    const agreed = options.yes || (await ask(plan, surroundings));
    if (agreed) await carryOut(plan, surroundings.env);
    else declined = true;
    if (!options.json) surroundings.print(agreed ? told(plan) : `${agent}: nothing was written`);
    done.push({ agent, path, changed: agreed });
  }
  if (options.json) surroundings.print(jsonText({ schema: 1, [action]: done }, 2));
  return declined ? 1 : 0;
}

/** `forktail hooks install|status|uninstall [AGENT…]`. */
export function hooks(options: HooksOptions, action: string, agents: string[]): Promise<number> {
  return hooksCommand(options, action, agents);
}

function agentOf(name: string): SettingsAgent {
  const found = SETTINGS_AGENTS.find((one) => one === name);
  if (found === undefined) throw new WrongUsage(`hooks: no agent ${name}; there are ${SETTINGS_AGENTS.join(" and ")}`);
  return found;
}

function planOf(action: string, agent: SettingsAgent, { env, program }: HooksSurroundings): SettingsPlan {
  try {
    return action === "install" ? planInstall(agent, program, env) : planUninstall(agent, env);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${agent}: its settings are left alone: ${why}`);
  }
}

function status(agents: readonly SettingsAgent[], options: HooksOptions, { env, print }: HooksSurroundings): number {
  const all: HookStatus[] = agents.map((agent) => hookStatus(agent, env));
  if (options.json) print(jsonText({ schema: 1, hooks: all }, 2));
  else {
    for (const { agent, path, state, detail } of all) {
      print(`${agent}: ${state}${detail === "" ? "" : ` (${cleanText(detail)})`}  ${path}`);
    }
  }
  return 0;
}

/** The change as a unified diff, which is what will happen and nothing else. */
function shown(plan: SettingsPlan): string {
  const { path, before, after, existed, notes } = plan;
  if (after === null) return [`${path} is removed: it was not there before forktail's hooks`, ...notes].join("\n");
  const head = existed ? path : `${path} (new)`;
  const patch = createTwoFilesPatch(head, path, before, after, "now", "then", { context: 2 });
  return cleanText([patch.trimEnd(), ...notes.map((note) => `Note: ${note}`)].join("\n"));
}

function told({ agent, path, after, existed, backup }: SettingsPlan): string {
  if (after === null) return `${agent}: ${path} is removed`;
  return existed ? `${agent}: ${path} is written; as it was: ${backup}` : `${agent}: ${path} is written`;
}

async function ask(plan: SettingsPlan, { confirm }: HooksSurroundings): Promise<boolean> {
  if (confirm === null) throw new Error("nobody is there to agree to this change: say --yes if it is right");
  return await confirm(`Change ${plan.path}? [y/N] `);
}

function ourSurroundings(): HooksSurroundings {
  return {
    env: process.env,
    program: ourProgram(),
    print: (text) => void process.stdout.write(`${text}\n`),
    confirm: process.stdin.isTTY && process.stdout.isTTY ? confirmOnTerminal : null,
  };
}

/** The program's own path where a shell finds it, else how it runs now. Quoted, because agents hand it to a shell. */
function ourProgram(): string {
  const found = findProgram("forktail", process.env);
  if (found !== null) return shellWord(found);
  return [process.execPath, process.argv[1] ?? ""].map(shellWord).join(" ");
}

function shellWord(text: string): string {
  return /^[A-Za-z0-9_/.@%+=:,-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

async function confirmOnTerminal(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/iu.test((await lines.question(question)).trim());
  } finally {
    lines.close();
  }
}
