import { forkSession, planFork, revertSession, undoRevert } from "../../actions/fork.ts";
import type { SessionKey } from "../../session/key.ts";
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
  screen.say(
    `${revert ? "reverted" : "forked"}: ${forked.id}; r resumes it${revert ? ", u undoes it" : ""}. ${forked.notes.join(" ")}`,
    "good",
  );
}

export function undoRevertHere(screen: Screen): void {
  screen.attempt(async () => {
    const session = screen.session();
    const mine = session && (await undoRevert(screen.context, session.key));
    const undone = mine || (await undoRevert(screen.context, null));
    if (!undone) {
      screen.say("there is no revert to undo");
      return;
    }
    screen.memoryChanged();
    screen.set({ selected: undone.original, open: { key: undone.original, view: "timeline", of: null, ref: null } });
    const title = screen.snapshot(undone.original)?.title ?? undone.original;
    screen.say(`${title} is back${undone.withdrawn ? "" : "; the copy went on and stays too"}`, "good");
  });
}
