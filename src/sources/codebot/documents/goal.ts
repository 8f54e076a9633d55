import type { Block, Document, Tone } from "../../../session/document.ts";
import { cleanLine } from "../../../session/untrusted.ts";
import type { SessionState } from "../fold.ts";
import { isoOf } from "../go-time.ts";
import { effectiveGoal, type GoalStateEntry } from "../payloads.ts";
import { goalText } from "../state-entries.ts";
import { opener } from "../view-items.ts";
import { minute } from "./numbers.ts";

const TONES: Record<string, Tone> = { active: "strong", complete: "good", blocked: "bad", budget_limited: "warn" };

/** The goal as it stands, its budget, and every change of it (codebot.md §8). */
export function goalDocument(state: SessionState): Document {
  const goal = effectiveGoal(state.chain.goal);
  const opens = opener(state);
  const blocks: Block[] = [{ type: "fields", rows: fieldsOf(goal) }];
  if (goal.tokenBudget > 0) {
    const left = Math.max(0, goal.tokenBudget - goal.tokensUsed);
    blocks.push({
      type: "gauge",
      label: "tokens",
      value: goal.tokensUsed,
      limit: goal.tokenBudget,
      note: `${left} left`,
      tone: left === 0 ? "bad" : "good",
    });
  }
  blocks.push(
    { type: "heading", text: "timeline" },
    {
      type: "table",
      columns: [{ title: "time" }, { title: "what", flexible: true }],
      rows: state.entries.flatMap((facts) => {
        if (facts.goal === undefined) return [];
        const tone = TONES[facts.goal.status];
        const cells = [minute(isoOf(facts.time)), cleanLine(goalText(facts.goal))];
        return [{ cells, ...(tone === undefined ? {} : { tone }), open: opens(facts) }];
      }),
      empty: "No goal was ever set.",
    },
  );
  return { title: "goal", blocks };
}

function fieldsOf(goal: GoalStateEntry) {
  const times: [string, string | null][] = [
    ["set", goal.createdAt],
    ["changed", goal.updatedAt],
    ["completed", goal.completedAt],
    ["blocked", goal.blockedAt],
    ["budget reached", goal.budgetLimitedAt],
    ["quota reached", goal.usageLimitedAt],
  ];
  return [
    { label: "status", value: cleanLine(goal.status) || "?" },
    { label: "objective", value: cleanLine(goal.objective) || "–" },
    { label: "id", value: cleanLine(goal.id) || "–" },
    { label: "used", value: `${goal.tokensUsed} tokens` },
    ...(goal.reason === "" ? [] : [{ label: "reason", value: cleanLine(goal.reason) }]),
    ...(goal.blockedReason === ""
      ? []
      : [{ label: "blocker", value: `${cleanLine(goal.blockedReason)} (reported ${goal.blockedCount}×)` }]),
    ...times.flatMap(([label, time]) => (time === null ? [] : [{ label, value: minute(isoOf(time)) }])),
  ];
}
