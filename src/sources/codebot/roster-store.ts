import { join } from "node:path";
import { goJson } from "../../files/go-json.ts";
import { readSmallText, removeIfThere, writeAtomically } from "./atomic.ts";
import { countOf, isObject, type JsonObject, parseObject, textOf, withoutEmpty } from "./json.ts";

export const ROSTER_FILE = "roster.json";

/** What is needed to start one teammate again: facts of its start only, no status and no model (codebot.md §11). */
export interface RosterMember {
  /** The key. */
  name: string;
  agentType: string;
  color: string;
  initialPrompt: string;
  description: string;
  depth: number;
  /** `""` means `teammate`. */
  kind: string;
}

/** The team of a session. */
export interface Roster {
  team: string;
  description: string;
  members: RosterMember[];
}

/** A roster file's text; null when it is none. Members without a name are left out. */
export function readRoster(text: string): Roster | null {
  const value = parseObject(text);
  if (value === null) return null;
  const all = Array.isArray(value.members) ? value.members.filter(isObject).map(readMember) : [];
  const members = all.filter(({ name }) => name !== "");
  return { team: textOf(value, "team"), description: textOf(value, "description"), members };
}

function readMember(value: JsonObject): RosterMember {
  return {
    name: textOf(value, "name"),
    agentType: textOf(value, "agent_type"),
    color: textOf(value, "color"),
    initialPrompt: textOf(value, "initial_prompt"),
    description: textOf(value, "description"),
    depth: countOf(value, "depth"),
    kind: textOf(value, "kind"),
  };
}

/** The file's text as Go prints it. */
function formatRoster(roster: Roster): string {
  const members = roster.members.map(({ name, agentType, color, initialPrompt, description, depth, kind }) => ({
    name,
    agent_type: agentType,
    ...withoutEmpty({ color, initial_prompt: initialPrompt, description, depth, kind }),
  }));
  const { team, description } = roster;
  return goJson({ team, ...withoutEmpty({ description }), ...(members.length > 0 ? { members } : {}) }, 2);
}

function noTeam(): Roster {
  return { team: "", description: "", members: [] };
}

/** The roster of a session's team. In memory until a directory is set; the directory is made with the first write. */
export class RosterStore {
  #roster = noTeam();
  #directory: string | null = null;

  /**
   * Keeps the roster in `<directory>/roster.json` and loads the one that is there. Without one there is no team, but for
   * what was only in memory. Throws when it cannot be read, and changes nothing then.
   */
  setDir(directory: string): void {
    const path = join(directory, ROSTER_FILE);
    const text = readSmallText(path);
    const roster = text === null ? null : readRoster(text);
    if (text !== null && roster === null) throw new Error(`${path} is not a roster`);
    if (roster !== null) this.#roster = roster;
    else if (this.#directory !== null) this.#roster = noTeam();
    this.#directory = directory;
  }

  /** Names the team; its members stay. */
  setTeam(name: string, description = ""): void {
    this.#roster.team = name;
    this.#roster.description = description;
    this.#write();
  }

  /** Adds a member, or replaces the one of the same name. */
  upsertMember(member: RosterMember): void {
    const at = this.#roster.members.findIndex(({ name }) => name === member.name);
    if (at < 0) this.#roster.members.push({ ...member });
    else this.#roster.members[at] = { ...member };
    this.#write();
  }

  /** Its transcript stays. Nothing happens when there is no such member. */
  removeMember(name: string): void {
    const members = this.#roster.members.filter((member) => member.name !== name);
    if (members.length === this.#roster.members.length) return;
    this.#roster.members = members;
    this.#write();
  }

  snapshot(): Roster {
    return { ...this.#roster, members: this.#roster.members.map((member) => ({ ...member })) };
  }

  /** Drops the team and removes its file. */
  clear(): void {
    this.#roster = noTeam();
    if (this.#directory !== null) removeIfThere(join(this.#directory, ROSTER_FILE));
  }

  #write(): void {
    if (this.#directory !== null) writeAtomically(join(this.#directory, ROSTER_FILE), formatRoster(this.#roster));
  }
}
