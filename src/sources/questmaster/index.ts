/**
 * questmaster's state package: everything it keeps on disk, readable and writable beside the real program
 * (formats/questmaster.md). Exported as `forktail/questmaster`, usable without the rest of forktail.
 */
export { CannotLock } from "../../files/flock.ts";
export { BadJson, type RawJson } from "../../files/raw-json.ts";
export { classify, type RootEntry } from "./classify.ts";
export { type EventLog, eventLogFold } from "./event-log.ts";
export { parseStateEvent, STATE_JSONL_MAX_SIZE, type StateEvent, stateEventLine } from "./events.ts";
export { isValidPartyID, RESUME_KEYS, sanitizeResumeID } from "./ids.ts";
export { type Attention, type Case, judge, type Liveness, type StateFile, seenMark, type Verdict } from "./judge.ts";
export {
  type AgentManifest,
  extraString,
  type Manifest,
  manifestResumeID,
  manifestText,
  newManifest,
  parentID,
  parseManifest,
  primaryAgent,
  type SessionType,
  sessionType,
  setExtra,
} from "./manifest.ts";
export {
  manifestLockPath,
  manifestPath,
  sessionIDFromEnv,
  sessionStateDir,
  sessionStateLockPath,
  sessionStateLogPath,
  sessionStatePath,
  stateRoot,
} from "./paths.ts";
export { effectiveResumeID, leadingAgent, resumeArgv } from "./resume-id.ts";
export { type Artifact, type Quest, type RepoColor, readArtifacts, readQuests, readRepoColors } from "./root-files.ts";
export {
  appendStateEvent,
  initStartingState,
  loadSessionState,
  type Mutate,
  type SessionFiles,
  saveSessionState,
  updateAndLog,
  updateSessionState,
} from "./session-files.ts";
export {
  newPaneState,
  newSessionState,
  type PaneState,
  parseSessionState,
  SCHEMA_VERSION,
  type SessionState,
  seenByTracker,
  sessionStateText,
} from "./session-state.ts";
export {
  InvalidPartyID,
  ManifestExists,
  ManifestNotFound,
  newStore,
  openStore,
  type Store,
  sortByMtime,
} from "./store.ts";
export { nanoTime, nowUTC, UNSET_TIME, unixMillis, unixNanos } from "./time.ts";
export { trackerOrder } from "./tree.ts";
