import { type SessionKey, sessionKey } from "../../session/key.ts";
import { cleanLine, cutCodePoints } from "../../session/untrusted.ts";
import type { Root } from "../source.ts";
import type { StateRow } from "./state-file.ts";

/**
 * The keys of the rows. The id is the name; of equal names the later ones get `#2`, `#3` …, and a row without a
 * name gets `#` and its place, which no valid name can be.
 */
export function keysOf(rows: readonly StateRow[], root: Root): Map<StateRow, SessionKey> {
  const keys = new Map<StateRow, SessionKey>();
  const taken = new Set<string>();
  for (const row of rows) {
    const plain = cutCodePoints(cleanLine(row.session.name), 100) || `#${row.n}`;
    let id = plain;
    for (let n = 2; taken.has(id); n += 1) id = `${plain}#${n}`;
    taken.add(id);
    keys.set(row, sessionKey("herrscher", root.index, id));
  }
  return keys;
}
