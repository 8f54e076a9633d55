import type { ByteSource } from "../../files/fold.ts";
import { openRegular } from "../../files/open.ts";
import { linesForward } from "../jsonl/line-windows.ts";
import { numberField, parseRecord } from "../jsonl/record.ts";
import { eventsOf, type Rollout } from "./rollouts.ts";
import { decompressed } from "./zstd.ts";

/** A rollout's plain bytes up to the end of its last whole line. */
export interface OpenRollout extends Disposable {
  bytes: ByteSource;
  end: number;
}

/** Opens a rollout, decompressing it when it is compressed. Throws an error that says what is wrong. */
export function openRollout(rollout: Rollout): OpenRollout {
  const { path, folded } = rollout;
  const file = openRegular(path);
  if (!rollout.name.compressed) {
    return { bytes: file, end: Math.min(folded.offset, file.size), [Symbol.dispose]: () => file[Symbol.dispose]() };
  }
  try {
    const plain = decompressed(file);
    if (!plain.ok) throw new Error(`${path}: ${plain.reason}`);
    return {
      bytes: plain.bytes,
      end: Math.min(folded.state.bytes, plain.bytes.size),
      [Symbol.dispose]: () => undefined,
    };
  } finally {
    file[Symbol.dispose]();
  }
}

/** Where the first line with an ordinal of at least `ordinal` begins, looked for behind the last event before it. */
export function offsetOfOrdinal(rollout: Rollout, open: OpenRollout, ordinal: number): number {
  const events = eventsOf(rollout);
  const after = events.findIndex((event) => event.ord >= ordinal);
  const before = after < 0 ? events.at(-1) : events[after - 1];
  for (const line of linesForward(open.bytes, before?.at ?? 0, open.end)) {
    const ord = numberField(parseRecord(line.bytes, 4096)?.fields ?? null, "ordinal");
    if (ord !== null && ord >= ordinal) return line.offset;
  }
  return open.end;
}

export function firstLineEnd(open: OpenRollout): number {
  const first = linesForward(open.bytes, 0, open.end).next();
  return first.done ? 0 : first.value.end;
}
