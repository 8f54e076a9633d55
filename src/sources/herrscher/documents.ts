import type { Block, Document, Row } from "../../session/document.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { cleanLine, titleLine } from "../../session/untrusted.ts";
import { isBusy } from "./events.ts";
import type { FellAway, RowFacts } from "./row.ts";
import { boundGateways, isLegacy } from "./session.ts";
import { timeOf } from "./snapshot.ts";
import type { TranscriptEntry } from "./transcript-entry.ts";
import { reportsUsage } from "./transcript-entry.ts";

const count = new Intl.NumberFormat("en-US");

function dollars(cost: number): string {
  return `$${cost.toFixed(cost !== 0 && Math.abs(cost) < 0.01 ? 4 : 2)}`;
}

function duration(ms: number): string {
  if (ms === 0) return "–";
  return ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** Budgets, sums, and each turn with its usage and duration. */
export function usageDocument(facts: RowFacts, entries: readonly { entry: TranscriptEntry; ref: string }[]): Document {
  const { invocation, sums } = facts;
  const reported = sums.reportedTurns > 0;
  const blocks: Block[] = [...gauges(facts)];
  blocks.push({
    type: "fields",
    rows: [
      { label: "turns", value: count.format(sums.turns) },
      { label: "cost", value: costWords(facts) },
      { label: "tokens", value: reported ? count.format(sums.tokensIn + sums.tokensOut) : "–" },
      { label: "input", value: reported ? count.format(sums.tokensIn) : "–" },
      { label: "output", value: reported ? count.format(sums.tokensOut) : "–" },
      { label: "cache read", value: reported ? count.format(sums.cacheRead) : "–" },
      { label: "cache write", value: reported ? count.format(sums.cacheCreate) : "–" },
      { label: "time in turns", value: duration(sums.durMs) },
    ],
  });
  if (!reported && sums.turns > 0) {
    const vendor = invocation.vendor === null ? "its vendor" : cleanLine(invocation.vendor);
    blocks.push({ type: "text", text: `${vendor} reports neither cost nor tokens.`, tone: "faint" });
  }
  if (facts.files.fellAway !== null)
    blocks.push({ type: "text", text: fellAwayWords(facts.files.fellAway), tone: "warn" });
  const rows: Row[] = [];
  for (const { entry, ref } of entries) {
    if (entry.role !== "assistant") continue;
    const told = reportsUsage(entry);
    const cells = [
      timeOf(entry.ts)?.slice(0, 19).replace("T", " ") ?? "–",
      titleLine(entry.text) || "–",
      entry.cost === 0 ? "–" : dollars(entry.cost),
      told ? count.format(entry.tokensIn) : "–",
      told ? count.format(entry.tokensOut) : "–",
      told ? count.format(entry.cacheRead + entry.cacheCreate) : "–",
      duration(entry.durMs),
    ];
    rows.push({ cells, open: { view: "timeline", ref } });
  }
  blocks.push({
    type: "table",
    columns: [
      { title: "time", from: 60 },
      { title: "reply", flexible: true },
      { title: "cost", align: "right" },
      { title: "in", align: "right", from: 70 },
      { title: "out", align: "right" },
      { title: "cached", align: "right", from: 80 },
      { title: "took", align: "right", from: 50 },
    ],
    rows,
    empty: "No reply yet.",
  });
  return { title: "usage", blocks };
}

function costWords({ sums }: RowFacts): string {
  if (sums.pricedTurns === 0) return "–";
  return `${sums.pricedTurns < sums.turns ? "≥ " : ""}${dollars(sums.cost)}`;
}

function gauges(facts: RowFacts): Block[] {
  const { cohortSpent, session, sums } = facts;
  const blocks: Block[] = [];
  const gauge = (label: string, value: number, limit: number, money: boolean): void => {
    if (limit <= 0) return;
    const note = money ? `${dollars(value)} of ${dollars(limit)}` : `${count.format(value)} of ${count.format(limit)}`;
    blocks.push({
      type: "gauge",
      label,
      value,
      limit,
      note,
      tone: value >= limit ? "bad" : value >= limit * 0.8 ? "warn" : "good",
    });
  };
  gauge("cost cap", sums.cost, session.costCap, true);
  gauge("token cap", sums.tokensIn + sums.tokensOut, Number(session.tokenCap), false);
  gauge("cohort cost cap", cohortSpent.cost, session.cohortCostCap, true);
  gauge("cohort token cap", cohortSpent.tokens, Number(session.cohortTokenCap), false);
  return blocks;
}

function fellAwayWords({ cost, entries, tokens }: FellAway): string {
  return (
    `herrscher has compacted the transcript since we watch it: at least ${count.format(entries)} older entries fell away, ` +
    `with ${dollars(cost)} and ${count.format(tokens)} tokens or more. All totals are of what remains, as herrscher's own are.`
  );
}

/** The whole cohort as a tree, with what each member and all together have used. */
export function teamDocument(
  facts: RowFacts,
  members: readonly { facts: RowFacts; snapshot: Snapshot }[],
  joined: string | null,
): Document {
  const { cohortSilent, cohortSpent } = facts;
  const byName = new Map(members.map((member) => [member.facts.session.name, member]));
  const items: Extract<Block, { type: "tree" }>["items"] = [];
  const draw = (name: string, depth: number): void => {
    const member = byName.get(name);
    if (member === undefined) return;
    byName.delete(name); // Whatever the parents say, nobody is drawn twice.
    const { sums } = member.facts;
    const used =
      sums.reportedTurns === 0 ? "–" : `${dollars(sums.cost)} · ${count.format(sums.tokensIn + sums.tokensOut)} tokens`;
    const label = `${name}${name === facts.session.name ? " (this one)" : ""}`;
    items.push({
      depth,
      label,
      note: `${member.snapshot.status} · ${member.facts.invocation.vendor ?? "?"} · ${used}`,
    });
    for (const other of members) if (other.facts.drawnUnder === name) draw(other.facts.session.name, depth + 1);
  };
  for (const { facts: one } of members) if (one.drawnUnder === null) draw(one.session.name, 0);
  const silent = cohortSilent > 0 ? `; ${count.format(cohortSilent)} turns reported nothing` : "";
  const rows = [
    { label: "lead", value: facts.cohortRoot },
    { label: "members", value: count.format(facts.cohort.length) },
    { label: "cost of all", value: `${cohortSilent > 0 ? "≥ " : ""}${dollars(cohortSpent.cost)}${silent}` },
    { label: "tokens of all", value: count.format(cohortSpent.tokens) },
  ];
  if (joined !== null) rows.push({ label: "reports", value: joined });
  return { title: "team", blocks: [...gauges(facts).slice(-2), { type: "fields", rows }, { type: "tree", items }] };
}

/** The events since we connected, newest first. */
export function eventsDocument({ feed, live }: RowFacts): Document {
  const state = feed === null ? "Nobody listens to the events socket." : cleanLine(feed.why);
  const rows = (live?.recent ?? []).toReversed().map(
    ({ at, t, text }): Row => ({
      cells: [new Date(at).toISOString().slice(11, 19), cleanLine(t), titleLine(text)],
    }),
  );
  const busy = live === null ? "no event yet" : isBusy(live) ? "busy" : "idle";
  return {
    title: "events",
    blocks: [
      {
        type: "fields",
        rows: [
          { label: "connection", value: state },
          { label: "now", value: busy },
        ],
      },
      {
        type: "table",
        columns: [{ title: "time" }, { title: "event" }, { title: "text", flexible: true }],
        rows,
        empty: "No event since we connected: the daemon replays none.",
      },
    ],
  };
}

/** What the session is: row, files, daemon, what is wrong. */
export function infoDocument(
  facts: RowFacts,
  snapshot: Snapshot,
  where: { statePath: string; sockets: string },
): Document {
  const { daemon, files, invocation, row, session } = facts;
  const shown = (value: string | null): string => (value === null || value === "" ? "–" : cleanLine(value));
  const parent = session.parent === "" ? "–" : `${cleanLine(session.parent)}${facts.parentExists ? "" : " (closed)"}`;
  const gateways = boundGateways(session);
  const blocks: Block[] = [
    {
      type: "fields",
      rows: [
        { label: "name", value: shown(session.name) },
        { label: "id", value: shown(session.id) + (row.idBackfilled ? " (given by herrscher at load)" : "") },
        { label: "incarnation", value: shown(session.incarnation) },
        { label: "vendor", value: shown(invocation.vendor) },
        { label: "model", value: shown(invocation.model) },
        { label: "effort", value: shown(invocation.effort) },
        { label: "command", value: shown(session.cmd) },
        { label: "backend", value: session.backend === "" ? "stream" : cleanLine(session.backend) },
        { label: "agent", value: shown(session.agent) },
        { label: "project", value: shown(session.project) },
        { label: "directory", value: shown(session.dir) },
        { label: "worktree", value: shown(session.worktree) },
        { label: "parent", value: parent },
        {
          label: "channel",
          value: `${shown(session.channelID)} (${shown(session.type)}${session.owned ? ", its own" : ""})`,
        },
        {
          label: "gateways",
          value: gateways?.map(cleanLine).join(", ") ?? (isLegacy(session) ? "none stored (legacy)" : "–"),
        },
        { label: "participants", value: files.participants.map(cleanLine).join(", ") || "–" },
        { label: "resume token", value: shown(session.resumeToken) },
        { label: "call journal", value: shown(session.journal) },
      ],
    },
    { type: "heading", text: "files" },
    {
      type: "fields",
      rows: [
        { label: "state", value: `${where.statePath}, row ${row.n}` },
        {
          label: "transcript",
          value:
            files.transcript === null
              ? "none"
              : `${files.transcript.path}, ${count.format(files.transcript.size)} bytes`,
        },
        { label: "sockets", value: where.sockets },
      ],
    },
    { type: "heading", text: `status: ${snapshot.status}${snapshot.certainty === "guess" ? " ?" : ""}` },
    ...snapshot.why.map((text): Block => ({ type: "text", text })),
  ];
  if (daemon !== null) {
    blocks.push({
      type: "heading",
      text: `daemon: ${daemon.state}${daemon.pid === null ? "" : ` (process ${daemon.pid})`}`,
    });
    for (const text of daemon.why) blocks.push({ type: "text", text: cleanLine(text) });
  }
  if (files.fellAway !== null) blocks.push({ type: "text", text: fellAwayWords(files.fellAway), tone: "warn" });
  if (snapshot.damage.length > 0) {
    blocks.push({ type: "heading", text: "damage" });
    for (const { bytes, kind, line } of snapshot.damage) {
      const place = [line === null ? "" : `line ${line}`, bytes === null ? "" : `${bytes} bytes`]
        .filter(Boolean)
        .join(", ");
      blocks.push({ type: "text", text: place === "" ? kind : `${kind}: ${place}`, tone: "warn" });
    }
  }
  return { title: "info", blocks };
}
