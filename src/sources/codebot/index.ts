/** The storage of codebot 0.3 (session format 3), read and written like the tool itself. Usable without forktail. */
export { BrokenChain, buildSnapshot, type ContextSnapshot, entryChain } from "./context.ts";
export {
  ENTRY_COMPACTION,
  ENTRY_GOAL_STATE,
  ENTRY_HEADER,
  ENTRY_KINDS,
  ENTRY_LLM_CALL,
  ENTRY_MESSAGE,
  ENTRY_MODEL_CHANGE,
  ENTRY_PLAN_STATE,
  ENTRY_REASONING_EFFORT_CHANGE,
  ENTRY_SESSION_INFO,
  type Entry,
  type EntryKind,
  formatEntry,
  parseEntry,
} from "./entry.ts";
export { generateName } from "./generate-name.ts";
export { formatGoTime, type GoTime, goNow, type Instant, instantOf, UNSET_TIME } from "./go-time.ts";
export { History, type HistoryEntry, type HistoryFile, MOST_RECALLED, readHistory, recall } from "./history.ts";
export { generateId, HEADER_ID, isSessionId, projectId } from "./ids.ts";
export * from "./layout.ts";
export {
  type ContentBlock,
  displayText,
  isInjected,
  type Message,
  type MessageUsage,
  MOST_STORED_THINKING,
  messageData,
  readMessage,
  shortenThinking,
  type ToolCall,
} from "./message.ts";
export {
  type CacheBreakInfo,
  type Compaction,
  effectiveGoal,
  type GoalStateEntry,
  type Header,
  type LLMCallEntry,
  type ModelChange,
  NO_GOAL,
  type PlanStateEntry,
  type ReasoningEffortChange,
  readCompaction,
  readGoalState,
  readHeader,
  readLLMCall,
  readModelChange,
  readPlanState,
  readReasoningEffort,
  readSessionName,
  SESSION_VERSION,
} from "./payloads.ts";
export { listPlans, type PlanFile, PlanStore, planTitle } from "./plan-store.ts";
export { isSynthetic, repairMessages } from "./repair.ts";
export { type Roster, type RosterMember, RosterStore, readRoster } from "./roster-store.ts";
export { Manager, readSessionInfo, type SessionInfo, type SkippedFile } from "./sessions.ts";
export { readSessionFile, type SessionFile, SessionUnreadable, Store } from "./store.ts";
export {
  type Blockers,
  blockersOf,
  compareTaskIDs,
  nextClaimable,
  readTask,
  sortTasksByID,
  TASK_COMPLETED,
  TASK_IN_PROGRESS,
  TASK_PENDING,
  TASK_STATUSES,
  type Task,
  type TaskStatus,
} from "./task.ts";
export { readTaskDirectory, type TaskDirectory } from "./task-files.ts";
export {
  AlreadyClaimedError,
  AlreadyResolvedError,
  BlockedError,
  TaskNotFoundError,
  TaskRefusal,
} from "./task-refusals.ts";
export { type TaskNotifyFn, type TaskSnapshot, TaskStore, type TaskUpdateOpts } from "./task-store.ts";
export { type MemberTranscript, readTranscript, TranscriptStore } from "./transcript-store.ts";
