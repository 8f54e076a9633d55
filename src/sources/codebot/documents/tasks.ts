import type { Block, Document, Row } from "../../../session/document.ts";
import { cleanLine } from "../../../session/untrusted.ts";
import type { Beside } from "../beside.ts";
import { isoOf } from "../go-time.ts";
import { countTasks } from "../session-row.ts";
import { blockersOf, nextClaimable, type Task, taskLabel } from "../task.ts";
import { minute } from "./numbers.ts";

const MARKS: Record<string, string> = { pending: "☐", in_progress: "▣", completed: "✓" };

/** The task list as a board: owners, what waits for what, and which one may be claimed next (codebot.md §10). */
export function tasksDocument(beside: Beside): Document {
  const directory = beside.tasks;
  if (directory === null) {
    return { title: "tasks", blocks: [{ type: "text", text: "No task was ever created in this session." }] };
  }
  const { tasks, highWaterMark, nextId } = directory;
  const counts = countTasks(tasks);
  const next = nextClaimable(tasks);
  const blocks: Block[] = [
    { type: "gauge", label: "completed", value: counts.completed, limit: counts.total, tone: "good" },
    {
      type: "fields",
      rows: [
        {
          label: "tasks",
          value: `${counts.total}: ${counts.pending} pending, ${counts.inProgress} in progress, ${counts.completed} completed, ${counts.blocked} blocked`,
        },
        { label: "next claimable", value: next === null ? "none" : `${next.id} ${cleanLine(next.subject)}` },
        { label: "next id", value: `${nextId} (highest ever given: ${highWaterMark})` },
      ],
    },
    {
      type: "table",
      columns: [
        { title: "", align: "left" },
        { title: "id", align: "right" },
        { title: "task", flexible: true },
        { title: "owner" },
        { title: "waits for", from: 60 },
        { title: "blocks", from: 80 },
        { title: "completed", from: 100 },
      ],
      rows: tasks.map((task) => rowOf(task, tasks, next?.id ?? null)),
      empty: highWaterMark > 0 ? "The list was cleared." : "No tasks.",
    },
  ];
  for (const { path, message } of beside.unreadable) {
    blocks.push({ type: "text", text: `${cleanLine(path)}: ${cleanLine(message)}`, tone: "bad" });
  }
  return { title: "tasks", blocks };
}

function rowOf(task: Task, tasks: readonly Task[], next: string | null): Row {
  const { open, missing } = blockersOf(task, (id) => tasks.find((other) => other.id === id)?.status);
  const waits = [...open, ...missing.map((id) => `${id} (gone)`)].map(cleanLine).join(", ");
  const blocked = task.status !== "completed" && open.length > 0;
  return {
    cells: [
      blocked ? "⊘" : (MARKS[task.status] ?? "?"),
      cleanLine(task.id),
      `${cleanLine(taskLabel(task))}${task.id === next ? "  ← next" : ""}`,
      cleanLine(task.owner) || "–",
      waits || "–",
      task.blocks.map(cleanLine).join(", ") || "–",
      minute(isoOf(task.completedAt)),
    ],
    ...(task.status === "completed"
      ? { tone: "faint" as const }
      : blocked
        ? { tone: "warn" as const }
        : task.status === "in_progress"
          ? { tone: "strong" as const }
          : {}),
    target: task.id,
  };
}
