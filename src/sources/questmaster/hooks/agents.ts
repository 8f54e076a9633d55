import { sanitizeResumeID } from "../ids.ts";
import type { Interpretation } from "./change.ts";
import { claudeHook } from "./claude.ts";
import { codexHook, codexThreadID } from "./codex.ts";
import { openCodeHook } from "./opencode.ts";
import { type Payload, textOf } from "./payload.ts";
import { piHook } from "./pi.ts";

export interface HookedAgent {
  interpret(action: string, payload: Payload): Interpretation | null;
  /** The conversation the hook belongs to, safe to be part of a name; empty when it does not say. */
  conversation(payload: Payload, env: NodeJS.ProcessEnv): string;
  /** Under which key its manifest keeps that id; null: the agent's state does (questmaster.md §10). */
  resumeKey: string | null;
}

/** The agents whose hooks we understand. */
export const HOOKED_AGENTS: Record<string, HookedAgent> = {
  claude: {
    interpret: claudeHook,
    conversation: (payload) => sanitizeResumeID(textOf(payload, "session_id").trim()),
    resumeKey: "claude_session_id",
  },
  codex: { interpret: codexHook, conversation: codexThreadID, resumeKey: "codex_thread_id" },
  pi: {
    interpret: piHook,
    conversation: (payload) => sanitizeResumeID(textOf(payload, "pi_session_id").trim()),
    resumeKey: null,
  },
  opencode: {
    interpret: openCodeHook,
    conversation: (payload) => {
      return sanitizeResumeID(openCodeHook("event", payload)?.change.openCodeSessionID ?? "");
    },
    resumeKey: "opencode_session_id",
  },
};
