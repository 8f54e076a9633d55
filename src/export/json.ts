import { type Entry, publicEntry } from "../session/entry.ts";
import { publicSnapshot, type Snapshot } from "../session/snapshot.ts";
import { jsonText } from "../session/untrusted.ts";

/** What `show KEY --json` prints (design §5), byte for byte, one entry at a time. */
export async function* jsonChunks(
  snapshot: Snapshot,
  entries: AsyncIterable<Entry> | Iterable<Entry>,
): AsyncGenerator<string, void, void> {
  const head = jsonText({ schema: 1, session: publicSnapshot(snapshot) }, 2).slice(0, -"\n}".length);
  yield `${head},\n  "entries": [`;
  let some = false;
  for await (const entry of entries) {
    const shown = jsonText(publicEntry(entry), 2).replaceAll("\n", "\n    ");
    yield `${some ? "," : ""}\n    ${shown}`;
    some = true;
  }
  yield some ? "\n  ]\n}\n" : "]\n}\n";
}
