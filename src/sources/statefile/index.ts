/**
 * `forktail/statefile`: reads and writes the append-only `.state` files of an agent session. A record is one JSON header
 * line, a body of exactly `len` bytes, and a newline. Usable without the rest of forktail.
 */
export {
  type Built,
  build,
  type Chain,
  derive,
  lastStep,
  prompt,
  type Status,
  textOf,
  waiting,
} from "./chain.ts";
export { type Conf, parseConf, providerOf, type Worker } from "./conf.ts";
export { copy, NoSuchRecord } from "./copy.ts";
export { type NewRecord, read, StateFile } from "./file.ts";
export { newId, validId } from "./ids.ts";
export {
  BadHeader,
  decode,
  encode,
  type Header,
  KINDS,
  type Kind,
  MOST_BODY_BYTES,
  parseHeader,
  type StateRecord,
  TornRecord,
  type Usage,
} from "./record.ts";
export { BadId, NoSession, Sessions } from "./sessions.ts";
export { type Tail, type WalkEnd, type WalkedRecord, walkRecords } from "./walk.ts";
