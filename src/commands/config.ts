import { loadConfig } from "../memory/config.ts";
import { configSchema } from "../memory/config-schema.ts";
import { configSettings, configText, LinesOf, type Setting } from "../memory/config-settings.ts";
import { configFile } from "../memory/state-directory.ts";
import { cleanLine } from "../session/untrusted.ts";
import { SOURCES } from "../sources/index.ts";
import { resolveRoots } from "../sources/roots.ts";
import { print, rootFlags, type SharedOptions } from "./context.ts";

export interface ConfigOptions extends SharedOptions {
  schema?: boolean;
  path?: boolean;
}

/** `forktail config [--schema|--path] [--json]`: what counts, and where each value comes from. */
export async function config(options: ConfigOptions): Promise<number> {
  const env = process.env;
  const path = options.config ?? configFile(env);
  if (options.schema) await print(JSON.stringify(configSchema(), null, 2));
  else if (options.path) await print(options.json ? JSON.stringify({ schema: 1, path }) : path);
  else {
    const settings = effective(options, path, env);
    const there = configText(path) !== null;
    await print(options.json ? asJson(settings, path, there) : inWords(settings, path, there));
  }
  return 0;
}

function effective(options: ConfigOptions, path: string, env: NodeJS.ProcessEnv): Setting[] {
  const loaded = loadConfig(path);
  const text = configText(path);
  const lines = new LinesOf(text, path);
  const flags = rootFlags(options, loaded);
  const asked = new Set((options.root ?? []).map((flag) => flag.slice(0, flag.indexOf("="))));
  const roots = SOURCES.map(({ name }): Setting => {
    const value = resolveRoots(SOURCES, flags, env).flatMap((root) => (root.source === name ? root.path : []));
    const where = asked.has(name) ? "--root" : lines.of(["roots", name]);
    const from = where === "--root" ? "flag" : where === null ? "default" : "file";
    return { name: `roots.${name}`, value, from, where };
  });
  const colourless = env.NO_COLOR ? "NO_COLOR" : env.TERM === "dumb" ? "TERM=dumb" : null;
  return [...roots, ...configSettings(loaded, text, path, { poll: options.poll, colourless })];
}

function asJson(settings: readonly Setting[], path: string, there: boolean): string {
  const shown = settings.map((one) => ({ ...one, value: one.value ?? null }));
  return JSON.stringify({ schema: 1, path, there, settings: shown }, null, 2);
}

function inWords(settings: readonly Setting[], path: string, there: boolean): string {
  const names = Math.max(...settings.map((one) => one.name.length));
  const rows = settings.map((one) => {
    const value = one.value === undefined ? "not set" : JSON.stringify(one.value);
    const from = one.where === null ? one.from : cleanLine(one.where);
    return `${cleanLine(one.name).padEnd(names)}  ${cleanLine(value)}  (${from})`;
  });
  const head = there ? `config file: ${path}` : `config file: ${path} (not there: all defaults)`;
  return [cleanLine(head), "", ...rows].join("\n");
}
