import { join } from "node:path";

/** Where things lie under a `.codebot` directory (codebot.md §1). */
export function projectsDirectory(root: string): string {
  return join(root, "projects");
}

export function plansDirectory(root: string): string {
  return join(root, "plans");
}

export function tasksDirectory(root: string, sessionId?: string): string {
  return sessionId === undefined ? join(root, "tasks") : join(root, "tasks", sessionId);
}

export function teamDirectory(root: string, sessionId: string): string {
  return join(root, "tasks", sessionId, "team");
}

export function transcriptsDirectory(root: string, sessionId: string): string {
  return join(root, "tasks", sessionId, "team", "transcripts");
}

export function historyFile(root: string): string {
  return join(root, "history.jsonl");
}
