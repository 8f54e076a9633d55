import type { SessionKey } from "../../session/key.ts";
import type { ActionInput, SourceAction } from "../source.ts";
import { messageOf } from "./beside.ts";
import type { Forker } from "./fork.ts";
import type { Task } from "./task.ts";
import { TaskStore } from "./task-store.ts";

export interface ActionFacts {
  key: SessionKey;
  /** Directory of the session's tasks; it may not be there yet. */
  tasksDirectory: string;
  tasks: readonly Task[];
  /** Why a branch cannot be promoted now, null when it can. */
  cannotPromote: string | null;
  /** Why the session can have no tasks, null when it can. */
  cannotTask: string | null;
  /** Does a codebot run that may have this session open? */
  live: boolean;
  forker: Forker;
}

/** What codebot's sessions have beyond what all have: branches that become sessions, and the task board. */
export function actionsOf(facts: ActionFacts): SourceAction[] {
  return [promotion(facts), claim(facts), complete(facts), reassign(facts), create(facts)];
}

function promotion({ key, forker, cannotPromote }: ActionFacts): SourceAction {
  return {
    id: "codebot.promote-branch",
    title: "Make this branch a session of its own",
    view: "branches",
    disabled: cannotPromote,
    inputs: [],
    says: (_values, target) => [
      target === null ? "choose a leaf first" : `makes a new session with everything from the header to ${target}`,
      "this session is not touched",
    ],
    run: async (_values, target) => {
      if (target === null) throw new Error("choose the leaf of a branch first");
      const made = await forker.makeBranch(key, target);
      return [`made session ${made.id}: ${made.path}`, ...made.notes];
    },
  };
}

function claim(facts: ActionFacts): SourceAction {
  return {
    id: "codebot.claim-task",
    title: "Claim this task",
    view: "tasks",
    disabled: facts.cannotTask ?? (facts.tasks.length === 0 ? "there is no task" : null),
    inputs: [ownerInput("who takes it")],
    says: ({ owner = "" }, target) => [
      `task ${target ?? "?"} gets the owner ${owner}, if nobody has it yet`,
      ...warning(facts),
    ],
    run: async ({ owner = "" }, target) => {
      const task = store(facts).claim(must(target), mustOwner(owner));
      return [`task ${task.id} belongs to ${task.owner}`];
    },
  };
}

function complete(facts: ActionFacts): SourceAction {
  return {
    id: "codebot.complete-task",
    title: "Complete this task",
    view: "tasks",
    disabled:
      facts.cannotTask ?? (facts.tasks.some((task) => task.status !== "completed") ? null : "there is no open task"),
    inputs: [],
    says: (_values, target) => [`task ${target ?? "?"} becomes completed now`, ...warning(facts)],
    run: async (_values, target) => {
      const id = must(target);
      const tasks = store(facts);
      if (tasks.get(id)?.status === "completed") throw new Error(`task ${id} is completed already`);
      tasks.update(id, { status: "completed" });
      return [`task ${id} is completed`];
    },
  };
}

function reassign(facts: ActionFacts): SourceAction {
  return {
    id: "codebot.reassign-task",
    title: "Give this task to somebody else",
    view: "tasks",
    disabled: facts.cannotTask ?? (facts.tasks.length === 0 ? "there is no task" : null),
    inputs: [{ name: "owner", label: "new owner (empty: nobody)", check: checkOwner }],
    says: ({ owner = "" }, target) => [
      owner === "" ? `task ${target ?? "?"} loses its owner` : `task ${target ?? "?"} gets the owner ${owner}`,
      ...warning(facts),
    ],
    run: async ({ owner = "" }, target) => {
      const id = must(target);
      const wrong = checkOwner(owner);
      if (wrong !== null) throw new Error(wrong);
      store(facts).update(id, { owner });
      return [owner === "" ? `task ${id} belongs to nobody` : `task ${id} belongs to ${owner}`];
    },
  };
}

function create(facts: ActionFacts): SourceAction {
  return {
    id: "codebot.create-task",
    title: "Create a task",
    view: "tasks",
    disabled: facts.cannotTask,
    inputs: [
      { name: "subject", label: "subject", check: (value) => (value.trim() === "" ? "a task needs a subject" : null) },
      { name: "description", label: "description", initial: "" },
    ],
    says: ({ subject = "" }) => [`makes a pending task: ${subject}`, `in ${facts.tasksDirectory}`, ...warning(facts)],
    run: async ({ subject = "", description = "" }) => {
      if (subject.trim() === "") throw new Error("a task needs a subject");
      const task = store(facts).create(subject.trim(), description.trim());
      return [`made task ${task.id}: ${task.subject}`];
    },
  };
}

/** A store of its own for each action: it begins with what is on disk at this moment. */
function store({ tasksDirectory }: ActionFacts): TaskStore {
  const tasks = new TaskStore();
  try {
    tasks.setDir(tasksDirectory);
  } catch (error) {
    throw new Error(`the tasks in ${tasksDirectory} cannot be read: ${messageOf(error)}`);
  }
  return tasks;
}

function warning({ live }: ActionFacts): string[] {
  return live
    ? [
        "a codebot runs here: it keeps its tasks in memory, sees this only when it opens the session again, and may write over it",
      ]
    : [];
}

function ownerInput(label: string): ActionInput {
  return {
    name: "owner",
    label,
    check: (value) => (value.trim() === "" ? "a claim needs an owner" : checkOwner(value)),
  };
}

function checkOwner(value: string): string | null {
  return /[\u0000-\u001f\u007f]/u.test(value) ? "an owner's name is one line of plain text" : null;
}

function mustOwner(owner: string): string {
  const wrong = owner.trim() === "" ? "a claim needs an owner" : checkOwner(owner);
  if (wrong !== null) throw new Error(wrong);
  return owner.trim();
}

function must(target: string | null): string {
  if (target === null) throw new Error("choose a task first");
  return target;
}
