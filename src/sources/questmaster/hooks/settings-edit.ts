import {
  applyEdits,
  type FormattingOptions,
  findNodeAtLocation,
  modify,
  type Node,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { isObject } from "./payload.ts";

/** Settings that we do not dare to touch. The message says what to mend. */
export class BadSettings extends Error {
  override name = "BadSettings";
}

/** One event of an agent and the command it shall run. */
export interface HookEntry {
  event: string;
  command: string;
}

/** How long an agent waits for our hook before it kills it, seconds. */
const TIMEOUT_S = 5;

/** Commands of ours, by how they end: whichever way the program was called when they were installed. */
export function isOurs(command: unknown, agent: string): boolean {
  return typeof command === "string" && new RegExp(`forktail\\S*['"]? hook ${agent} [a-z_]+$`, "u").test(command);
}

/** The settings with exactly one entry of ours for each event, everything else left byte for byte as it is. Throws `BadSettings`. */
export function withHooks(text: string, agent: string, entries: readonly HookEntry[]): string {
  let edited = withoutHooks(text.trim() === "" ? "{}\n" : text, agent);
  for (const { event, command } of entries) {
    const group = { matcher: "", hooks: [{ type: "command", command, timeout: TIMEOUT_S }] };
    const groups = hooksOf(edited)[event];
    if (groups !== undefined && !Array.isArray(groups)) throw new BadSettings(`hooks.${event} is not a list`);
    const path = groups === undefined ? ["hooks", event] : ["hooks", event, groups.length];
    edited = change(edited, path, groups === undefined ? [group] : group);
  }
  return edited;
}

/**
 * The settings without our entries. A list, or the whole `hooks`, that is empty then goes too, unless it stood there
 * empty in `original`, which is what the settings were before we came.
 */
export function withoutHooks(text: string, agent: string, original = "{}"): string {
  let edited = text;
  const before = hooksOf(original);
  for (const [event, groups] of Object.entries(hooksOf(text))) {
    if (!Array.isArray(groups)) continue;
    for (let at = groups.length - 1; at >= 0; at--) edited = withoutOurs(edited, event, at, groups[at], agent);
    const left = hooksOf(edited)[event];
    const emptied = groups.length > 0 && Array.isArray(left) && left.length === 0;
    if (emptied && before[event] === undefined) edited = without(edited, ["hooks", event]);
  }
  const emptied = edited !== text && Object.keys(hooksOf(edited)).length === 0;
  return emptied && settingsOf(original).hooks === undefined ? without(edited, ["hooks"]) : edited;
}

/** Takes our commands out of one group, and the group itself when it holds nothing else. */
function withoutOurs(text: string, event: string, at: number, group: unknown, agent: string): string {
  if (!isObject(group) || !Array.isArray(group.hooks)) return text;
  const ours = group.hooks.flatMap((one, n) => (isObject(one) && isOurs(one.command, agent) ? [n] : []));
  if (ours.length === 0) return text;
  if (ours.length === group.hooks.length) return without(text, ["hooks", event, at]);
  return ours.reverse().reduce((edited, n) => without(edited, ["hooks", event, at, "hooks", n]), text);
}

/** Which events run a command of ours, and all commands that are set, ours or not. */
export function commandsOf(text: string): { event: string; command: string }[] {
  const commands: { event: string; command: string }[] = [];
  for (const [event, groups] of Object.entries(hooksOf(text))) {
    for (const group of Array.isArray(groups) ? groups : []) {
      for (const one of isObject(group) && Array.isArray(group.hooks) ? group.hooks : []) {
        if (isObject(one) && typeof one.command === "string") commands.push({ event, command: one.command });
      }
    }
  }
  return commands;
}

function hooksOf(text: string): Record<string, unknown> {
  const { hooks } = settingsOf(text);
  if (hooks === undefined) return {};
  if (!isObject(hooks)) throw new BadSettings("hooks is not an object");
  const twice = twiceInHooks(text);
  if (twice !== null) throw new BadSettings(`${twice} stands there twice: keep one of them`);
  return hooks;
}

/** What stands twice of `hooks` and all in it: an agent takes the last one, an edit changes the first. null: nothing. */
function twiceInHooks(text: string): string | null {
  const hooks = (parseTree(text)?.children ?? []).filter((property) => keyOf(property) === "hooks");
  const [property] = hooks;
  if (hooks.length > 1) return "hooks";
  return property === undefined ? null : twiceIn(property, "hooks");
}

function twiceIn(node: Node, name: string): string | null {
  const keys = new Set<string>();
  for (const child of node.children ?? []) {
    const key = child.type === "property" ? keyOf(child) : null;
    const childName = key === null ? name : `${name}.${key}`;
    if (key !== null && keys.has(key)) return childName;
    if (key !== null) keys.add(key);
    const found = twiceIn(child, childName);
    if (found !== null) return found;
  }
  return null;
}

function keyOf(property: Node): string {
  return String(property.children?.[0]?.value);
}

function settingsOf(text: string): Record<string, unknown> {
  if (text.trim() === "") return {};
  const errors: ParseError[] = [];
  const settings: unknown = parse(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first) throw new BadSettings(`not valid JSON (${printParseErrorCode(first.error)} at byte ${first.offset})`);
  if (!isObject(settings)) throw new BadSettings("not a JSON object");
  return settings;
}

function change(text: string, path: (string | number)[], value: unknown): string {
  const isArrayInsertion = typeof path.at(-1) === "number";
  const formattingOptions = formattingOf(text);
  return applyEdits(text, modify(text, path, value, { formattingOptions, isArrayInsertion }));
}

/** Takes a property or an element out, with the comma and the space that came with it and no byte more. */
function without(text: string, path: (string | number)[]): string {
  const root = parseTree(text);
  const value = root && findNodeAtLocation(root, path);
  const item = typeof path.at(-1) === "number" ? value : value?.parent;
  const container = item?.parent;
  const siblings = container?.children ?? [];
  if (!item || !container) return text;
  const at = siblings.indexOf(item);
  const next = siblings[at + 1];
  const previous = siblings[at - 1];
  let from = container.offset + 1;
  let to = container.offset + container.length - 1;
  if (next) [from, to] = [item.offset, next.offset];
  else if (previous) [from, to] = [previous.offset + previous.length, item.offset + item.length];
  return text.slice(0, from) + text.slice(to);
}

/** As the file is written already. */
function formattingOf(text: string): FormattingOptions {
  const indent = /^([ \t]+)"/mu.exec(text)?.[1] ?? "  ";
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return indent.startsWith("\t")
    ? { insertSpaces: false, tabSize: 1, eol }
    : { insertSpaces: true, tabSize: indent.length, eol };
}
