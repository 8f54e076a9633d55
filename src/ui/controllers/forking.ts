import { forkSession, planFork, planUndo, revertSession, undoRevert } from "../../actions/fork.ts";
import type { SessionKey } from "../../session/key.ts";
import { cleanLine } from "../../session/untrusted.ts";
import type { Screen } from "../screen.ts";

export function forkHere(screen: Screen, verb: "fork" | "revert"): void {
  const session = screen.session();
  if (!session) return;
  const entry = screen.entry();
  if (verb === "revert" && !entry) {
    screen.say("open the session and choose the entry to go back before");
    return;
  }
  const before = entry?.ref ?? null;
  screen.attempt(async () => {
    const plan = await planFork(screen.context, session.key, before);
    if (!plan.allowed) {
      screen.say(`no ${verb} here: ${plan.reason}`, "bad");
      return;
    }
    const says = [...plan.says];
    if (verb === "revert") says.push(`${session.id} is folded away in forktail; u brings it back.`);
    if (plan.status !== "idle") says.push(`The new session will be ${plan.status}.`);
    screen.ask({
      title: verb === "fork" ? "Fork this session?" : "Go back to before this entry?",
      says,
      warning: plan.ask,
      verb,
      run: () => screen.attempt(() => makeFork(screen, verb, session.key, before)),
    });
  });
}

async function makeFork(
  screen: Screen,
  verb: "fork" | "revert",
  key: SessionKey,
  before: string | null,
): Promise<void> {
  const revert = verb === "revert" && before !== null;
  const forked = revert
    ? await revertSession(screen.context, key, before)
    : await forkSession(screen.context, key, before);
  screen.memoryChanged();
  // The watcher will bring it; it is selected as soon as it is there.
  screen.set({ selected: forked.key, open: { key: forked.key, view: "timeline", of: null, ref: null } });
  const keys = [...(forked.resume ? ["r resumes it"] : []), ...(revert ? ["u undoes it"] : [])].join(", ");
  const said = `${revert ? "reverted" : "forked"}: ${forked.id}${keys && `; ${keys}`}`;
  screen.say(`${said}. ${forked.notes.join(" ")}`, "good");
}

/** Asks, then takes back the revert of the session one is at, else the last one. */
export function undoRevertHere(screen: Screen): void {
  screen.attempt(async () => {
    const session = screen.session();
    const mine = session && (await planUndo(screen.context, session.key));
    const plan = mine || (await planUndo(screen.context, null));
    if (!plan) {
      screen.say("there is no revert to undo");
      return;
    }
    const title = titleOf(screen, plan.original);
    screen.ask({
      title: "Undo the revert?",
      says: [
        `${title} (${plan.original}) is shown again.`,
        plan.withdrawn
          ? `${plan.copy}, its copy, had nothing of its own yet and is folded away; its file stays.`
          : `${plan.copy}, its copy, went on since and stays in the list.`,
      ],
      warning: null,
      verb: "undo",
      run: () => screen.attempt(() => undo(screen, plan.original)),
    });
  });
}

async function undo(screen: Screen, original: SessionKey): Promise<void> {
  const undone = await undoRevert(screen.context, original);
  if (!undone) return;
  screen.memoryChanged();
  screen.set({ selected: original, open: { key: original, view: "timeline", of: null, ref: null } });
  screen.say(`${titleOf(screen, original)} is back${undone.withdrawn ? "" : "; the copy stays too"}`, "good");
}

function titleOf(screen: Screen, key: SessionKey): string {
  return cleanLine(screen.snapshot(key)?.title ?? key);
}
