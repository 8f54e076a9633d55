import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { CannotOpen } from "../../files/open.ts";
import { readSmallText } from "./atomic.ts";
import { isPlanName } from "./ids.ts";
import { plansDirectory, tasksDirectory, teamDirectory, transcriptsDirectory } from "./layout.ts";
import { planPath, planTitle } from "./plan-store.ts";
import { ROSTER_FILE, type Roster, readRoster } from "./roster-store.ts";
import { HIGH_WATER_MARK, readTaskDirectory, type TaskDirectory } from "./task-files.ts";

/** What codebot keeps of a session outside its file. */
export interface Beside {
  /** null: it never had a task directory. */
  tasks: TaskDirectory | null;
  roster: Roster | null;
  /** Files of members' conversations, by name, with their sizes; members may be gone from the roster. */
  transcripts: { name: string; bytes: number }[];
  /** What could not be read: path and message. */
  unreadable: { path: string; message: string }[];
}

export const NOTHING_BESIDE: Beside = { tasks: null, roster: null, transcripts: [], unreadable: [] };

/** Reads tasks, roster and the list of transcripts of a session. Changes nothing, throws never. */
export function readBeside(root: string, sessionId: string): Beside {
  const beside: Beside = { tasks: null, roster: null, transcripts: [], unreadable: [] };
  const directory = tasksDirectory(root, sessionId);
  try {
    const tasks = readTaskDirectory(directory);
    if (!tasks.exists) return NOTHING_BESIDE;
    const isUsed = tasks.tasks.length > 0 || tasks.highWaterMark > 0 || tasks.unreadable.length > 0;
    beside.tasks = isUsed ? tasks : null;
    for (const name of tasks.unreadable) {
      const what = name === HIGH_WATER_MARK ? "not the highest id" : "not a task";
      beside.unreadable.push({ path: join(directory, name), message: `${what}: passed over` });
    }
  } catch (error) {
    beside.unreadable.push({ path: directory, message: messageOf(error) });
  }
  const file = join(teamDirectory(root, sessionId), ROSTER_FILE);
  try {
    const text = readSmallText(file);
    beside.roster = text === null ? null : readRoster(text);
    if (text !== null && beside.roster === null) beside.unreadable.push({ path: file, message: "not a roster" });
  } catch (error) {
    beside.unreadable.push({ path: file, message: messageOf(error) });
  }
  beside.transcripts = listTranscripts(transcriptsDirectory(root, sessionId));
  return beside;
}

function listTranscripts(directory: string): Beside["transcripts"] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl") && !entry.name.startsWith("."))
      .map((entry) => ({
        name: entry.name.slice(0, -".jsonl".length),
        bytes: lstatSync(join(directory, entry.name), { throwIfNoEntry: false })?.size ?? 0,
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

export interface Plan {
  text: string;
  title: string;
  /** Of its last change, ms since 1970. */
  changedMs: number;
}

/** A session's plan file (codebot.md §9); null when there is none, the reason when it cannot be read. */
export function readPlan(root: string, slug: string): Plan | CannotOpen | null {
  if (slug === "" || !isPlanName(slug)) return null;
  const path = planPath(plansDirectory(root), slug);
  try {
    const text = readSmallText(path);
    if (text === null) return null;
    const changedMs = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return { text, title: planTitle(text), changedMs };
  } catch (error) {
    if (error instanceof CannotOpen) return error;
    throw error;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
