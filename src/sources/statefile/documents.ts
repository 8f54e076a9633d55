import type { Block, Document } from "../../session/document.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { anomaliesOf, type StateOfFile } from "./fold.ts";

const count = new Intl.NumberFormat("en-US");

/** Usage of every step, with the gauge of what the context costs now against its limit. */
export function usageDocument(state: StateOfFile, snapshot: Snapshot): Document {
  const blocks: Block[] = [];
  if (snapshot.context) {
    blocks.push({
      type: "gauge",
      label: "context",
      value: snapshot.context.used,
      limit: snapshot.context.limit,
      note: "prompt of the last step",
    });
  }
  const { usage, own } = snapshot;
  if (usage) {
    blocks.push({
      type: "fields",
      rows: [
        { label: "steps", value: count.format(usage.requests) },
        { label: "input", value: count.format(usage.input) },
        { label: "cache read", value: count.format(usage.cacheRead) },
        { label: "cache write", value: count.format(usage.cacheWrite) },
        { label: "output", value: count.format(usage.output) },
        { label: "cost", value: "– (not recorded by the tool)" },
        ...(own && own.requests < usage.requests
          ? [
              {
                label: "of these own",
                value: `${count.format(own.requests)} steps; the others came with the copied prefix`,
              },
            ]
          : []),
      ],
    });
  }
  blocks.push({
    type: "table",
    columns: [
      { title: "record", align: "right" },
      { title: "time", from: 60 },
      { title: "model", flexible: true, from: 70 },
      { title: "prompt", align: "right" },
      { title: "cached", align: "right" },
      { title: "output", align: "right" },
      { title: "fill", align: "right" },
    ],
    rows: state.steps.map((step) => ({
      cells: stepCells(step.n, step.time, step.model, step.usage, snapshot.context?.limit ?? null),
      open: { view: "timeline", ref: String(step.n) },
    })),
    empty: "No step yet: the tool records usage when a step ends.",
  });
  return { title: "usage", blocks };
}

function stepCells(
  n: number,
  time: string | null,
  model: string,
  usage: StateOfFile["steps"][number]["usage"],
  limit: number | null,
): string[] {
  const at = time?.slice(11, 19) ?? "–";
  if (usage === null) return [String(n), at, model, "–", "–", "–", "–"];
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  const fill = limit === null ? "–" : `${Math.round((prompt / limit) * 100)}%`;
  const cached = prompt === 0 ? "–" : `${Math.round((usage.cacheRead / prompt) * 100)}%`;
  return [String(n), at, model, count.format(prompt), cached, count.format(usage.output), fill];
}

/** What the file is: config, workers with their drives, where it lies, what is wrong with it. */
export function infoDocument(state: StateOfFile, snapshot: Snapshot, bytes: number): Document {
  const { conf } = state;
  const blocks: Block[] = [
    {
      type: "fields",
      rows: [
        { label: "id", value: snapshot.id },
        { label: "file", value: snapshot.path },
        { label: "size", value: `${count.format(bytes)} bytes, ${count.format(state.records)} records` },
        { label: "created", value: snapshot.createdAt ?? "–" },
        { label: "updated", value: snapshot.updatedAt ?? "–" },
        { label: "status", value: `${snapshot.status} (${snapshot.native})` },
        { label: "copied from", value: snapshot.parent?.key ?? "–" },
      ],
    },
    { type: "heading", text: "config" },
    conf
      ? {
          type: "fields",
          rows: [
            { label: "model", value: conf.model || "–" },
            { label: "tools", value: conf.tools || "–" },
            { label: "context", value: conf.context === null ? "unknown" : `${count.format(conf.context)} tokens` },
            { label: "media input", value: conf.input.join(", ") || "–" },
          ],
        }
      : { type: "text", text: `The tool cannot continue this session: ${configProblem(state)}.`, tone: "bad" },
    { type: "heading", text: "workers" },
    {
      type: "table",
      columns: [{ title: "name" }, { title: "drives", flexible: true }],
      rows: (conf?.workers ?? []).map((worker) => ({ cells: [worker.name, worker.drives.join(", ") || "–"] })),
      empty: "No workers: this session cannot run anything.",
    },
    { type: "heading", text: "records" },
    {
      type: "fields",
      rows: Object.entries(state.kinds).map(([label, value]) => ({ label, value: count.format(value) })),
    },
  ];
  const problems = anomaliesOf(state).map((anomaly) => anomaly.text);
  if (state.tail !== "clean") problems.push(tailProblem(state));
  if (problems.length > 0) {
    blocks.push({ type: "heading", text: "problems" });
    for (const text of problems) blocks.push({ type: "text", text, tone: "warn" });
  }
  return { title: "info", blocks };
}

function configProblem({ confProblem }: StateOfFile): string {
  return confProblem ?? "it has no config record";
}

/** What stands behind the last whole record, in words, with what the tool will do about it (statefile.md §6). */
export function tailProblem(state: StateOfFile): string {
  const bytes = `${count.format(state.tailBytes)} ${state.tailBytes === 1 ? "byte" : "bytes"}`;
  if (state.tail.startsWith("torn"))
    return `${bytes} of an unfinished record at the end: a write in progress, or a crash.`;
  if (state.tail === "bad-newline") {
    return `Damaged after record ${state.records}: ${bytes} unreadable; the tool will cut them at its next write.`;
  }
  return `Damaged after record ${state.records} (${state.tail}): ${bytes} unreadable; the tool refuses this file.`;
}
