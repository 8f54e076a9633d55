import { isoTime } from "../../files/go-json.ts";
import type { Block, Document, Tone } from "../../session/document.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { cleanLine, cleanText } from "../../session/untrusted.ts";
import type { EventLog } from "./event-log.ts";
import type { StateEvent } from "./events.ts";
import { activityLine } from "./judge.ts";
import { extraString } from "./manifest.ts";
import type { Artifact, Quest } from "./root-files.ts";
import type { Held } from "./snapshot.ts";
import { unixMillis } from "./time.ts";

/** Rows of the event table: the newest ones. */
const MOST_ROWS = 2000;

const TONES: Record<string, Tone> = { working: "warn", blocked: "bad", done: "good", idle: "faint", stopped: "faint" };

/** The history of a session: how its states followed each other, then every event, newest last (questmaster.md §7). */
export function eventsDocument(logs: readonly EventLog[], now: number): Document {
  const events = logs.flatMap((log) => log.events);
  const count = logs.reduce((sum, log) => sum + log.count, 0);
  const bad = logs.reduce((sum, log) => sum + log.badLines, 0);
  const shown = events.slice(-MOST_ROWS);
  const notes: Block[] = [];
  if (shown.length < count) notes.push(note(`${count - shown.length} older events are not shown.`));
  if (bad > 0) notes.push({ type: "text", text: `${bad} lines are no events: passed over.`, tone: "warn" });
  return {
    title: "events",
    blocks: [
      { type: "heading", text: "states" },
      {
        type: "table",
        columns: [
          { title: "from" },
          { title: "state" },
          { title: "for", align: "right" },
          { title: "activity", flexible: true, from: 50 },
        ],
        rows: stateTimeline(events, now).map((step) => ({
          cells: [clock(step.from), step.state, step.for, step.activity],
          ...toneOf(step.state),
        })),
        empty: "No event has changed a state yet.",
      },
      { type: "heading", text: "events" },
      ...notes,
      {
        type: "table",
        columns: [
          { title: "time" },
          { title: "agent", from: 70 },
          { title: "event" },
          { title: "state" },
          { title: "tool", from: 90 },
          { title: "activity", flexible: true, from: 50 },
        ],
        rows: shown.map((event) => ({
          cells: [
            clock(event.ts),
            cleanLine(event.agent),
            cleanLine(event.kind ?? event.action),
            cleanLine(event.state ?? ""),
            cleanLine(event.tool ?? ""),
            activityLine(event.activity ?? ""),
          ],
          ...toneOf(event.state ?? ""),
        })),
        empty: "No hook has logged an event yet.",
      },
    ],
  };
}

interface StateStep {
  /** RFC 3339. */
  from: string;
  state: string;
  /** `2m14s`. */
  for: string;
  activity: string;
}

/** Consecutive events with the same state as one step, each until the next one begins; the last until now. */
export function stateTimeline(events: readonly StateEvent[], now: number): StateStep[] {
  const changes: StateEvent[] = [];
  for (const event of events) {
    if (event.state === undefined) continue;
    const last = changes.at(-1);
    if (last?.state === event.state && last.role === event.role) continue;
    changes.push(event);
  }
  return changes.map((event, at) => {
    const from = unixMillis(event.ts);
    const to = at + 1 < changes.length ? unixMillis(changes[at + 1]?.ts ?? "") : now;
    return {
      from: event.ts,
      state: cleanLine(event.state ?? ""),
      for: from === null || to === null ? "–" : duration(to - from),
      activity: activityLine(event.activity ?? ""),
    };
  });
}

/** `12s`, `2m14s`, `2m`, `1h3m`: as the tracker writes how long a session works (questmaster.md §13). */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds}s`;
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
}

export interface InfoFacts {
  held: Held;
  snapshot: Snapshot;
  artifacts: readonly Artifact[];
  quests: readonly Quest[];
}

/** The manifest, the panes with their last output, and what belongs to the session. */
export function infoDocument({ held, snapshot, artifacts, quests }: InfoFacts): Document {
  const { manifest } = held;
  const blocks: Block[] = [
    {
      type: "fields",
      rows: rows([
        ["id", held.id],
        ["title", manifest.title],
        ["type", String(snapshot.extra.type)],
        ["directory", manifest.cwd],
        ["repository", snapshot.project ?? ""],
        ["colour", String(snapshot.extra.color ?? "")],
        ["created", manifest.createdAt],
        ["updated", manifest.updatedAt],
        ["window", manifest.windowName],
        ["parent", extraString(manifest, "parent_session")],
        ["workers", manifest.workers.join(" ")],
        ["first prompt", extraString(manifest, "initial_prompt")],
        ["resume", snapshot.resume?.argv.join(" ") ?? "no safe resume id is recorded"],
        ["manifest", held.path],
      ]),
    },
    { type: "heading", text: "agents" },
    {
      type: "table",
      columns: [
        { title: "role" },
        { title: "agent" },
        { title: "resume id", flexible: true },
        { title: "program", from: 70 },
      ],
      rows: manifest.agents.map((agent) => ({
        cells: [agent.role, agent.name, agent.resumeID || "–", agent.cli].map(cleanLine),
      })),
      empty: "None: a plain shell, or a manifest of an older release.",
    },
    { type: "heading", text: "panes" },
    {
      type: "table",
      columns: [
        { title: "role" },
        { title: "agent" },
        { title: "state" },
        { title: "tool", from: 60 },
        { title: "last event", from: 80 },
        { title: "activity", flexible: true },
      ],
      rows: snapshot.panes.map((pane) => ({
        cells: [pane.role, pane.agent, pane.state, pane.tool ?? "", clock(pane.lastEvent ?? ""), pane.activity ?? ""],
        ...toneOf(pane.state),
      })),
      empty: "No hook has written a state yet.",
    },
  ];
  if (held.stateFile.kind === "ok") {
    for (const [role, pane] of held.stateFile.state.panes) {
      if (pane.recent.length === 0) continue;
      blocks.push({ type: "heading", text: `last lines of ${cleanLine(role)}` });
      blocks.push({ type: "text", text: cleanText(pane.recent.join("\n")) });
    }
  }
  const others = [...manifest.extra].filter(([key]) => key !== "initial_prompt" && key !== "parent_session");
  if (others.length > 0) {
    blocks.push({ type: "heading", text: "other keys of the manifest" });
    blocks.push({
      type: "fields",
      rows: others.map(([key, raw]) => ({ label: cleanLine(key), value: cleanLine(raw) })),
    });
  }
  if (artifacts.length > 0) {
    blocks.push({ type: "heading", text: "artifacts" });
    blocks.push({
      type: "table",
      columns: [{ title: "kind" }, { title: "label" }, { title: "path", flexible: true }],
      rows: artifacts.map((one) => ({ cells: [one.kind, one.label, one.path].map(cleanLine) })),
    });
  }
  if (quests.length > 0) {
    blocks.push({ type: "heading", text: "quests" });
    blocks.push({
      type: "table",
      columns: [{ title: "id" }, { title: "quest", flexible: true }],
      rows: quests.map((one) => ({ cells: [one.id, one.content].map(cleanLine) })),
    });
  }
  if (snapshot.why.length > 0) {
    blocks.push({ type: "heading", text: "why this status" });
    blocks.push({ type: "text", text: snapshot.why.join("\n") });
  }
  return { title: "info", blocks };
}

/** A member of a master's team: a worker with a row, a promoted one, or a ghost. */
export interface Member {
  id: string;
  snapshot: Snapshot | null;
  promoted: boolean;
}

/** The workers of a session. Those its list names without a manifest are shown as what they are (questmaster.md §8.9). */
export function teamDocument(members: readonly Member[]): Document {
  return {
    title: "team",
    blocks: [
      {
        type: "table",
        columns: [
          { title: "worker" },
          { title: "agent", from: 60 },
          { title: "state" },
          { title: "activity", flexible: true, from: 50 },
          { title: "id", from: 90 },
        ],
        rows: members.map(({ id, snapshot, promoted }) => {
          if (snapshot === null) {
            return {
              cells: [cleanLine(id), "", "gone", "no manifest: its entry was left behind", cleanLine(id)],
              tone: "faint",
            };
          }
          const activity = promoted ? `promoted to a master · ${snapshot.activity ?? ""}` : (snapshot.activity ?? "");
          return {
            cells: [snapshot.title, snapshot.agent ?? "", String(snapshot.extra.word), activity, id],
            target: id,
            ...toneOf(String(snapshot.extra.state)),
          };
        }),
        empty: "No workers yet.",
      },
    ],
  };
}

function rows(pairs: [string, string][]): { label: string; value: string }[] {
  return pairs.filter(([, value]) => value !== "").map(([label, value]) => ({ label, value: cleanLine(value) }));
}

function note(text: string): Block {
  return { type: "text", text, tone: "faint" };
}

function toneOf(state: string): { tone: Tone } | object {
  const tone = Object.hasOwn(TONES, state) ? TONES[state] : undefined;
  return tone === undefined ? {} : { tone };
}

function clock(time: string): string {
  return isoTime(time)?.slice(0, 19).replace("T", " ") ?? "–";
}
