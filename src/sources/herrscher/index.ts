/** herrscher's files and sockets, usable without the rest of forktail (herrscher.md). */
export * from "./budget.ts";
export * from "./cohort.ts";
export { CommandFailed, type CommandFailure, type CommandTimes, sendCommand } from "./command.ts";
export { type DurableAgent, type HerrscherConfig, parseConfig, readAgents, readConfig, type Skills } from "./config.ts";
export { DaemonHoldsRoot, type WriteOptions } from "./held.ts";
export { type Invocation, invocation } from "./invocation.ts";
export { lockFilePath } from "./lock-file.ts";
export {
  InvalidSessionName,
  isValidInstanceID,
  isValidName,
  participantsPath,
  slugName,
  transcriptPath,
} from "./names.ts";
export { appendParticipant, readParticipants, removeParticipantJournal } from "./participants.ts";
export { blankSession, boundGateways, isLegacy, type Session } from "./session.ts";
export { type SocketPaths, socketPaths } from "./sockets.ts";
export { type Budget, loadState, newIncarnation, newState, SessionNameTaken, State } from "./state.ts";
export { BadState, type HomeRef, parseState, readStateFile, type StateContent, type StateRow } from "./state-file.ts";
export {
  appendTranscript,
  readTranscript,
  readTranscriptLast,
  removeTranscript,
  TRANSCRIPT_KEPT_BYTES,
  TRANSCRIPT_MOST_BYTES,
} from "./transcript.ts";
export {
  blankTranscriptEntry,
  formatTranscriptLine,
  parseTranscriptLine,
  reportsUsage,
  type TranscriptEntry,
} from "./transcript-entry.ts";
export {
  type TranscriptState,
  type TranscriptSums,
  tornTail,
  transcriptFold,
  transcriptSums,
} from "./transcript-fold.ts";
