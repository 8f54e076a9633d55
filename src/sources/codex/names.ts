import type { FileFold } from "../../files/fold.ts";
import { walkLines } from "../../files/lines.ts";
import { parseRecord, textField } from "../jsonl/record.ts";
import { THREAD_ID } from "./rollout-name.ts";

export interface ThreadNames {
  names: Record<string, string>;
}

/** `session_index.jsonl`: names of threads, the last line of each wins (agents.md §2.1). */
export const namesFold: FileFold<ThreadNames> = {
  name: "codex-names",
  version: 1,
  initial: () => ({ names: {} }),
  *advance(state, bytes, from) {
    return yield* walkLines(bytes, from, {
      line(line) {
        const fields = parseRecord(line, 4096)?.fields ?? null;
        const id = textField(fields, "id");
        const name = textField(fields, "thread_name");
        if (id !== null && name !== null && THREAD_ID.test(id)) state.names[id] = name.slice(0, 2000);
      },
    });
  },
};
