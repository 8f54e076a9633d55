import { CannotOpen } from "../../../files/open.ts";
import type { Block, Document } from "../../../session/document.ts";
import { cleanLine } from "../../../session/untrusted.ts";
import type { Plan } from "../beside.ts";
import type { SessionState } from "../fold.ts";
import { isoOf } from "../go-time.ts";
import { planText } from "../state-entries.ts";
import { opener } from "../view-items.ts";
import { minute } from "./numbers.ts";

/** The plan's text, and when plan mode was entered and left (codebot.md §9). */
export function planDocument(state: SessionState, found: Plan | CannotOpen | null): Document {
  const { chain } = state;
  const plan = found instanceof CannotOpen ? null : found;
  const opens = opener(state);
  const changes = state.entries.filter((facts) => facts.plan !== undefined);
  const blocks: Block[] = [
    {
      type: "fields",
      rows: [
        { label: "phase", value: cleanLine(chain.plan?.phase ?? "off") },
        { label: "plan", value: cleanLine(chain.planSlug) || "–" },
        { label: "approval before", value: cleanLine(chain.plan?.preMode ?? "") || "–" },
        { label: "title", value: plan === null ? "–" : cleanLine(plan.title) },
      ],
    },
    plan === null
      ? {
          type: "text",
          text: missing(chain.planSlug, found),
          tone: "warn",
        }
      : { type: "text", text: plan.text, markdown: true },
    { type: "heading", text: "plan mode" },
    {
      type: "table",
      columns: [{ title: "time" }, { title: "what", flexible: true }],
      rows: changes.map((facts) => ({
        cells: [minute(isoOf(facts.time)), facts.plan === undefined ? "" : cleanLine(planText(facts.plan))],
        open: opens(facts),
      })),
    },
  ];
  return { title: "plan", blocks };
}

function missing(slug: string, found: Plan | CannotOpen | null): string {
  if (found instanceof CannotOpen) return `The plan's file cannot be read: ${cleanLine(found.message)}.`;
  return slug === "" ? "No plan is linked to this session." : "The plan's file is not there.";
}
