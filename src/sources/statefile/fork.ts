import { join } from "node:path";
import type { Folded } from "../../files/fold.ts";
import { runSliced } from "../../files/fold.ts";
import { openRegular } from "../../files/open.ts";
import { AlreadyExists } from "../../files/publish.ts";
import { parseKey, type SessionKey, sessionKey } from "../../session/key.ts";
import type { ForkAbility, Forked, Root } from "../source.ts";
import { copy } from "./copy.ts";
import { faultWithin, planCut, readOnly } from "./cuts.ts";
import type { StateOfFile } from "./fold.ts";
import { newId, validId } from "./ids.ts";
import { SUFFIX } from "./sessions.ts";
import { walkRecords } from "./walk.ts";

interface Needs {
  roots(): readonly Root[];
  stateOf(key: SessionKey): Promise<Folded<StateOfFile>>;
}

const MOST_DRAWS = 16;

/** Fork and revert by copying a prefix (statefile.md §12, way 2). The ref of an entry is its ordinal. */
export function forkAbility(needs: Needs): ForkAbility {
  const plan: ForkAbility["plan"] = async (key, before) => {
    const n = before === null ? null : ordinal(before);
    if (before !== null && n === null) return { allowed: false, reason: `${before} is not a record number` };
    const { path, state } = await needs.stateOf(key);
    const kind = n === null ? "" : await kindAt(path, n);
    const cut = planCut(state, parseKey(key)?.id ?? key, n, () => kind);
    const refused = readOnly(path);
    return refused === null ? cut : { allowed: false, reason: refused };
  };
  return {
    plan,
    async make(key, before): Promise<Forked> {
      const answer = await plan(key, before);
      if (!answer.allowed) throw new Error(`not forked: ${answer.reason}`);
      const { path, state } = await needs.stateOf(key);
      const parts = parseKey(key);
      const root = needs.roots().find((one) => one.index === parts?.root);
      if (!parts || !root || !validId(parts.id)) throw new Error(`not forked: ${key} is not a session`);
      const n = before === null ? state.records + 1 : Number(before);
      for (let draw = 0; draw < MOST_DRAWS; draw += 1) {
        const id = newId();
        const to = join(root.path, id + SUFFIX);
        try {
          await copy(path, to, n);
          const fault = faultWithin(state, n);
          return {
            key: sessionKey(parts.source, parts.root, id),
            id,
            path: to,
            resume: fault === null ? { argv: ["mainplane", "chat", id], cwd: null } : null,
            notes: [fault ?? `A running server lists it only after: mainplane info ${id}`],
          };
        } catch (error) {
          if (!(error instanceof AlreadyExists)) throw error;
        }
      }
      throw new Error(`not forked: no free id in ${root.path} after ${MOST_DRAWS} draws`);
    },
  };
}

function ordinal(ref: string): number | null {
  return /^[1-9][0-9]{0,8}$/u.test(ref) ? Number(ref) : null;
}

/** Kind of the record with this ordinal, for the refusal's words. */
async function kindAt(path: string, n: number): Promise<string> {
  using file = openRegular(path);
  let seen = 0;
  let kind = "";
  await runSliced(
    walkRecords(file, 0, (record) => {
      seen += 1;
      if (seen === n) kind = record.header.kind;
      return seen < n;
    }),
  );
  return kind;
}
