import { lstatSync } from "node:fs";
import type { Snapshot } from "../session/snapshot.ts";
import type { SourceReader } from "../sources/source.ts";
import type { SizedFile } from "./file-filter.ts";

/** One transcript of a session: its own, or one beside it. */
export interface Conversation {
  snapshot: Snapshot;
  view: "timeline" | "branch";
  /** Which member or sub-agent, for the view `branch`. */
  of: string | null;
  /** Files that hold its text; null: only the transcript tells. */
  files: SizedFile[] | null;
}

/** Conversations that are looked at together: enough bytes to be worth a message to a thread. */
export interface Batch {
  conversations: Conversation[];
  files: SizedFile[];
  /** Sessions that end in this batch. */
  sessions: number;
}

const BATCH_BYTES = 8 * 1024 * 1024;
const BATCH_FILES = 256;

/** Every conversation of these sessions, in their order. Asks readers and file sizes only as far as it is drawn. */
export function* batches(
  sessions: Iterable<Snapshot>,
  readerOf: (key: string) => SourceReader,
): Generator<Batch, void, void> {
  let batch: Batch = { conversations: [], files: [], sessions: 0 };
  let bytes = 0;
  for (const snapshot of sessions) {
    for (const conversation of conversationsOf(snapshot, readerOf(snapshot.key))) {
      batch.conversations.push(conversation);
      for (const file of conversation.files ?? []) {
        batch.files.push(file);
        bytes += file.bytes;
      }
    }
    batch.sessions += 1;
    if (bytes < BATCH_BYTES && batch.files.length < BATCH_FILES && batch.sessions < BATCH_FILES) continue;
    yield batch;
    batch = { conversations: [], files: [], sessions: 0 };
    bytes = 0;
  }
  if (batch.sessions > 0) yield batch;
}

function conversationsOf(snapshot: Snapshot, reader: SourceReader): Conversation[] {
  const main: Conversation = { snapshot, view: "timeline", of: null, files: null };
  try {
    const { key } = snapshot;
    main.files = sized(reader.files?.(key) ?? null);
    const members = reader.members?.(key) ?? [];
    return [
      main,
      ...members.map(({ of, files }): Conversation => ({ snapshot, view: "branch", of, files: sized(files) })),
    ];
  } catch {
    // Gone since the list was made: its transcript says so.
    return [main];
  }
}

function sized(paths: readonly string[] | null): SizedFile[] | null {
  return paths?.map((path) => ({ path, bytes: lstatSync(path, { throwIfNoEntry: false })?.size ?? 0 })) ?? null;
}
