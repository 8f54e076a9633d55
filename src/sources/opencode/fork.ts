import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { findProgram } from "../../probe/program.ts";
import { type SessionKey, sessionKey } from "../../session/key.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import { forkedFrom, forksByCopy } from "../agents/forks-by-copy.ts";
import type { Live } from "../by-process/seats.ts";
import type { ForkAbility, Forked } from "../source.ts";
import { type Cut, cutBefore } from "./cuts.ts";
import { cutExport, readExported } from "./exported.ts";
import { officialFork, resumeArgv } from "./resume.ts";
import type { RootStore } from "./root-store.ts";
import { runToFile } from "./run-to-file.ts";
import type { SessionFacts } from "./session-facts.ts";

export interface ForkNeeds {
  session(key: SessionKey): Promise<Asked>;
  env: NodeJS.ProcessEnv;
  /** ms since 1970. */
  now(): number;
}

interface Asked {
  snapshot: Snapshot;
  facts: SessionFacts;
  live: Live | null;
  store: RootStore;
  /** `opencode`, or `opencode2` where that is what reads its store. */
  program: string;
}

type Prepared =
  | { ok: true; program: string; cwd: string; cut: Extract<Cut, { ok: true }> }
  | { ok: false; reason: string };

const MOST_MS = 60_000;

/**
 * Only through OpenCode itself: its database is never written by us. A copy is what `opencode export` prints, cut, under
 * fresh ids, given to `opencode import` (agents.md §8).
 */
export function opencodeForks(needs: ForkNeeds): ForkAbility {
  return forksByCopy({
    async prepare(key, before) {
      const asked = await needs.session(key);
      const prepared = prepareFork(asked, before, needs.env);
      return prepared.ok ? { ok: true, copy: { asked, prepared, whole: before === null } } : prepared;
    },
    says({ asked: { snapshot, facts }, prepared: { program, cut, cwd }, whole }) {
      const name = basename(program);
      return [
        `runs ${name} export, keeps ${cut.count} of ${facts.messages.length} messages`,
        `under new ids, and gives them to ${name} import in ${cwd}`,
        ...(whole && snapshot.resume ? [`\`${officialFork(snapshot.resume.argv)}\` does the same from inside`] : []),
      ];
    },
    titleOf: ({ asked }) => asked.snapshot.title,
    isOver: ({ prepared }) => prepared.cut.over,
    write: ({ asked, prepared }) => makeFork(asked, prepared, needs),
  });
}

function prepareFork(asked: Asked, before: string | null, env: NodeJS.ProcessEnv): Prepared {
  const { snapshot, facts, live, program: name } = asked;
  const { generation, cwd } = facts.session;
  if (generation === "json") {
    return { ok: false, reason: "it lies in the files of an OpenCode before 1.2, which today's does not read" };
  }
  if (live !== null && !live.guess) {
    const official = officialFork(snapshot.resume?.argv ?? [name, "-s", snapshot.id]);
    const reason = `it is running (process ${live.process.pid}); \`${official}\` is safe`;
    return { ok: false, reason };
  }
  const cut = cutBefore(facts, before);
  if (!cut.ok) return cut;
  const program = findProgram(name, env);
  if (program === null) {
    return { ok: false, reason: `only OpenCode itself may write its database, and ${name} is not on PATH` };
  }
  if (cwd === null || !existsSync(cwd)) {
    return {
      ok: false,
      reason: `its directory ${cwd ?? ""} is gone, and OpenCode imports into the directory it runs in`,
    };
  }
  return { ok: true, program, cwd, cut };
}

async function makeFork(asked: Asked, prepared: Extract<Prepared, { ok: true }>, needs: ForkNeeds): Promise<Forked> {
  const { snapshot, facts, store } = asked;
  const { program, cwd, cut } = prepared;
  const directory = await mkdtemp(join(tmpdir(), "forktail-opencode-"));
  try {
    const env = environmentOf(needs.env, facts);
    const out = join(directory, "export.json");
    await runToFile(program, ["export", snapshot.id], out, { env, cwd, timeoutMs: MOST_MS });
    const keep = facts.messages.slice(0, cut.count).map((message) => message.id);
    const { id, exported } = cutExport(readExported(await readFile(out, "utf8")), keep, needs.now());
    const into = join(directory, `${id}.json`);
    await writeFile(into, JSON.stringify(exported), { mode: 0o600 });
    const log = join(directory, "import.txt");
    try {
      await runToFile(program, ["import", into], log, { env, cwd, timeoutMs: MOST_MS });
      await verify(store, facts, id, keep.length);
    } catch (error) {
      await takeBack(program, id, join(directory, "delete.txt"), { env, cwd });
      throw error;
    }
    const argv = resumeArgv(asked.program, { ...facts.session, id }, store.root.path, needs.env);
    return {
      key: sessionKey("opencode", store.root.index, id),
      id,
      path: facts.session.path,
      resume: argv === null ? null : { argv, cwd },
      notes: forkedFrom(snapshot.id),
    };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The environment in which OpenCode opens the very database the session lies in. */
function environmentOf(env: NodeJS.ProcessEnv, facts: SessionFacts): NodeJS.ProcessEnv {
  const { path } = facts.session;
  const data = dirname(path);
  const usual = basename(data) === "opencode" ? { XDG_DATA_HOME: dirname(data) } : {};
  // Named always: the person's own variable may name another one.
  return { ...env, ...usual, OPENCODE_DB: path };
}

/** Looks into the database: the new session is there with all its messages. */
async function verify(store: RootStore, facts: SessionFacts, id: string, messages: number): Promise<void> {
  const { session } = facts;
  const found = await store.use(session, (open) => {
    const made = open.sessions().find((one) => one.id === id);
    return made === undefined ? -1 : open.messages(made).rows.length;
  });
  if (found === messages) return;
  const what = found < 0 ? "the session is not there" : `${found} of ${messages} messages are there`;
  throw new Error(`OpenCode did not import the copy whole: ${what}`);
}

/** Nothing is left of a copy that failed; when OpenCode cannot delete it, there was nothing to delete. */
async function takeBack(
  program: string,
  id: string,
  log: string,
  where: { env: NodeJS.ProcessEnv; cwd: string },
): Promise<void> {
  await runToFile(program, ["session", "delete", id], log, { ...where, timeoutMs: MOST_MS }).catch(() => undefined);
}
