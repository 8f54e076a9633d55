import { cleanLine, cutCodePoints } from "../../session/untrusted.ts";

export interface TitleSources {
  customTitle: string | null;
  customTitleFile: string | null;
  aiTitle: string | null;
  /** A summary record elsewhere that names a row of this session. */
  summary: string | null;
  firstPrompt: string | null;
  command: string | null;
  id: string;
}

export interface Title {
  title: string;
  /** Where it is from, in words. */
  from: string;
}

const MOST_TITLE = 200;

/** The official order, and what a list is left with when nothing has a name (agents.md §1.4). */
export function titleOf(sources: TitleSources): Title {
  const candidates: [string | null, string][] = [
    [sources.customTitle, "custom-title"],
    [sources.customTitleFile, "custom-title.json"],
    [sources.aiTitle, "ai-title"],
    [sources.summary, "summary"],
    [sources.firstPrompt, "first prompt"],
    [sources.command, "slash command"],
  ];
  for (const [text, from] of candidates) {
    const title = text === null ? "" : cutCodePoints(cleanLine(text), MOST_TITLE);
    if (title !== "") return { title, from };
  }
  return { title: sources.id, from: "id" };
}
