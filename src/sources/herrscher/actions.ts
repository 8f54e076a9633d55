import { cleanLine, titleLine } from "../../session/untrusted.ts";
import type { ActionInput, SourceAction } from "../source.ts";
import { costCapProblem, tokenCapProblem } from "./budget.ts";
import { type Channel, disabledReason, type Verb } from "./channel.ts";
import { slugName } from "./names.ts";
import type { RowFacts } from "./row.ts";
import type { Session } from "./session.ts";
import type { StateContent } from "./state-file.ts";

/** What a verb does once its values are known to be right. */
export interface Order {
  argv: string[];
  /** ms the answer may take. */
  answerMs: number;
  /** Does the state file show that it was done? null: it does not show there. */
  done: ((state: StateContent) => boolean) | null;
  /** What was done, for the person; `answer` is what herrscher said. */
  says(answer: string): string[];
}

/** Gives an order to herrscher, checks the outcome. Throws an error that says what went wrong and what to do. */
export type Carry = (facts: RowFacts, verb: Verb, order: Order) => Promise<string[]>;

type Values = Record<string, string>;

interface VerbRow {
  verb: Verb;
  title: string;
  inputs(facts: RowFacts): ActionInput[];
  /** What will happen, without the way it goes. */
  says(facts: RowFacts, values: Values): string[];
  order(facts: RowFacts, values: Values, taken: ReadonlySet<string>): Order;
}

const ANSWER_MS = 30_000;
/** A create may clone a repository first. */
const CREATE_MS = 10 * 60_000;
/** A seed waits for its reply, 120 s unless the daemon is told otherwise. */
const SEED_MS = 130_000;

const VENDORS = ["claude", "codex", "cursor"];
const NO_YES = ["no", "yes"];

function said(value: string | undefined): string {
  return (value ?? "").trim();
}

/** A value that begins with `--` would be taken for a flag; joined, herrscher from 0.16.1 on takes it. */
function flag(name: string, value: string): string[] {
  return value.startsWith("--") ? [`--${name}=${value}`] : [`--${name}`, value];
}

function optional(name: string, value: string | undefined): string[] {
  return said(value) === "" ? [] : flag(name, said(value));
}

function notEmpty(value: string): string | null {
  if (value.includes("\0")) return "a NUL byte cannot be sent";
  return value.trim() === "" ? "write something first" : null;
}

function sessionOf(state: StateContent, name: string): Session | null {
  return state.rows?.find((row) => row.session.name === name)?.session ?? null;
}

const CAPS = [
  { name: "cost_cap", label: "cost cap, US dollars", of: "costCap", check: costCapProblem },
  { name: "token_cap", label: "token cap", of: "tokenCap", check: tokenCapProblem },
  { name: "cohort_cost_cap", label: "cohort cost cap, US dollars", of: "cohortCostCap", check: costCapProblem },
  { name: "cohort_token_cap", label: "cohort token cap", of: "cohortTokenCap", check: tokenCapProblem },
] as const;

function givenCaps(values: Values): { cap: (typeof CAPS)[number]; value: string }[] {
  return CAPS.map((cap) => ({ cap, value: said(values[cap.name]) })).filter(({ value }) => value !== "");
}

const VERBS: readonly VerbRow[] = [
  {
    verb: "send",
    title: "send a message",
    inputs: () => [{ name: "text", label: "message", check: notEmpty }],
    says: ({ session }, values) => [
      `queues for ${session.name}: ${titleLine(values.text ?? "")}`,
      ...(session.pausedReason === ""
        ? []
        : [`it is paused (${cleanLine(session.pausedReason)}): the daemon will drop the message`]),
    ],
    order: ({ session }, values) => ({
      argv: ["session", "send", "--name", session.name, ...flag("text", values.text ?? "")],
      answerMs: ANSWER_MS,
      done: null,
      says: () => ["queued; a refusal (a cap that is reached) comes only as an event"],
    }),
  },
  {
    verb: "interrupt",
    title: "interrupt its turn",
    inputs: () => [],
    says: ({ session }) => [`interrupts what ${session.name} does now; nothing happens when it is idle`],
    order: ({ session }) => ({
      argv: ["session", "interrupt", "--name", session.name],
      answerMs: ANSWER_MS,
      done: null,
      says: () => [`${session.name} was told to stop`],
    }),
  },
  {
    verb: "budget",
    title: "set its budget",
    inputs: ({ session }) => [
      ...CAPS.map(
        (cap): ActionInput => ({
          name: cap.name,
          label: `${cap.label} (now ${Number(session[cap.of]) === 0 ? "none" : String(session[cap.of])}; empty: as it is, 0: none)`,
          initial: "",
          check: (value) => (said(value) === "" ? null : cap.check(said(value))),
        }),
      ),
      { name: "scope", label: "for", choices: ["session", "cohort"], initial: "session" },
    ],
    says: ({ cohort, session }, values) => {
      const given = givenCaps(values).map(({ cap, value }) => `${cap.label}: ${Number(value) === 0 ? "none" : value}`);
      const whom = values.scope === "cohort" ? `all of ${cohort.join(", ")}` : session.name;
      return [
        `sets for ${whom}: ${given.join("; ") || "nothing yet"}`,
        "a pause ends only when its cap is lifted or above what is used",
      ];
    },
    order: ({ session }, values) => {
      const given = givenCaps(values);
      if (given.length === 0) throw new Error("no cap was given: nothing was sent");
      return {
        argv: [
          "session",
          "set-budget",
          "--name",
          session.name,
          ...given.flatMap(({ cap, value }) => [`--${cap.name}`, value]),
          ...(values.scope === "cohort" ? ["--scope", "cohort"] : []),
        ],
        answerMs: ANSWER_MS,
        done: (state) => {
          const now = sessionOf(state, session.name);
          return now !== null && given.every(({ cap, value }) => sameCap(now[cap.of], value));
        },
        says: () => [`the budget of ${values.scope === "cohort" ? "the cohort" : session.name} is set`],
      };
    },
  },
  {
    verb: "archive",
    title: "archive",
    inputs: () => [],
    says: ({ session }) => [
      `stops ${session.name} and puts it away; ${session.owned ? "its channel is closed; " : ""}transcript and worktree stay`,
    ],
    order: ({ session }) => ({
      argv: ["session", "archive", "--name", session.name],
      answerMs: ANSWER_MS,
      done: (state) => sessionOf(state, session.name)?.archived === true,
      says: () => [`${session.name} is archived`],
    }),
  },
  {
    verb: "resume",
    title: "revive in the daemon",
    inputs: () => [],
    says: ({ daemon, session }) => [
      daemon?.state === "up"
        ? `the daemon drives ${session.name} again, with its stored token; a pause stays`
        : `no daemon runs: this only takes ${session.name} out of the archive; the daemon starts it when it starts`,
    ],
    order: ({ session }) => ({
      argv: ["session", "resume", "--name", session.name],
      answerMs: ANSWER_MS,
      done: (state) => sessionOf(state, session.name)?.archived === false,
      says: () => [`${session.name} is out of the archive`],
    }),
  },
  {
    verb: "switch",
    title: "switch vendor or model",
    inputs: ({ invocation, session }) => [
      { name: "vendor", label: "vendor", choices: VENDORS, initial: invocation.vendor ?? "claude" },
      { name: "cmd", label: "command", initial: session.cmd, check: notEmpty },
      { name: "model", label: "model id (empty: the command's)", initial: "" },
      { name: "handoff", label: "hand over", choices: ["none", "summary", "full"], initial: "summary" },
    ],
    says: ({ session }, values) => [
      `${session.name} goes on with ${said(values.vendor)}: ${cleanLine(values.cmd ?? "")}`,
      "its resume token is dropped: the old conversation cannot be resumed from here",
      HANDOFF_WORDS[values.handoff ?? ""] ?? "",
    ],
    order: ({ session }, values) => ({
      argv: [
        ...["session", "switch", "--name", session.name],
        ...flag("vendor", said(values.vendor)),
        ...flag("cmd", said(values.cmd)),
        ...optional("model", values.model),
        ...["--handoff", said(values.handoff) || "none"],
      ],
      answerMs: 2 * ANSWER_MS,
      done: (state) => {
        const now = sessionOf(state, session.name);
        return now !== null && now.vendor === said(values.vendor) && now.cmd === said(values.cmd);
      },
      says: () => [`${session.name} goes on with ${said(values.vendor)}`],
    }),
  },
  {
    verb: "seed",
    title: "ask once, beside the conversation",
    inputs: () => [{ name: "task", label: "task", check: notEmpty }],
    says: ({ session }, values) => [
      `runs a separate backend in ${session.name}: ${titleLine(values.task ?? "")}`,
      "no budget gates it, and it waits up to two minutes for the reply",
    ],
    order: ({ session }, values) => ({
      argv: ["session", "seed", "--name", session.name, ...flag("task", values.task ?? ""), "--json"],
      answerMs: SEED_MS,
      done: null,
      says: (answer) => [replyOf(answer)],
    }),
  },
  {
    verb: "create",
    title: "new session beside it",
    inputs: ({ invocation, session }) => [
      {
        name: "name",
        label: "name",
        check: (value) => (slugName(value) === "" ? "letters or digits are needed" : null),
      },
      { name: "project", label: "project", initial: session.project },
      { name: "vendor", label: "vendor", choices: VENDORS, initial: invocation.vendor ?? "claude" },
      { name: "model", label: "model id (empty: the vendor's own)", initial: session.modelID },
      { name: "agent", label: "agent (empty: none)", initial: "" },
      { name: "terminal_only", label: "terminal only", choices: NO_YES, initial: "yes" },
      {
        name: "cost_cap",
        label: "cost cap, US dollars (empty: none)",
        check: (value) => (said(value) === "" ? null : costCapProblem(said(value))),
      },
    ],
    says: (_facts, values) => [
      `makes the session ${slugName(values.name ?? "")} with a worktree of its own, and starts its agent`,
    ],
    order: (_facts, values, taken) => {
      const name = slugName(values.name ?? "");
      if (taken.has(name)) throw new Error(`there is a session ${name} already: choose another name`);
      return {
        argv: [
          ...["session", "create", "--name", name],
          ...optional("vendor", values.vendor),
          ...optional("model", values.model),
          ...optional("project", values.project),
          ...optional("agent", values.agent),
          ...(values.terminal_only === "yes" ? ["--terminal_only"] : []),
          ...optional("cost_cap", values.cost_cap),
        ],
        answerMs: CREATE_MS,
        done: (state) => sessionOf(state, name) !== null,
        says: () => [`${name} is there`],
      };
    },
  },
  {
    verb: "close",
    title: "close for good",
    inputs: () => [{ name: "force", label: "even with uncommitted work", choices: NO_YES, initial: "no" }],
    says: ({ session }, values) => [
      `DELETES the transcript${session.worktree === "" ? "" : " and the worktree"} of ${session.name}; its branch stays`,
      values.force === "yes"
        ? "uncommitted work in the worktree is lost"
        : "refused when the worktree holds uncommitted work",
    ],
    order: ({ session }, values) => ({
      argv: ["session", "close", "--name", session.name, ...(values.force === "yes" ? ["--force"] : [])],
      answerMs: ANSWER_MS,
      done: (state) => {
        const now = sessionOf(state, session.name);
        return now === null || now.incarnation !== session.incarnation;
      },
      says: () => [`${session.name} is closed`],
    }),
  },
];

const HANDOFF_WORDS: Record<string, string> = {
  none: "the new backend is told nothing of the conversation",
  summary: "the new backend is given the last 12 entries",
  full: "the new backend is given the last 200 entries",
};

function sameCap(now: number | bigint, typed: string): boolean {
  return typeof now === "bigint" ? now === BigInt(typed) : now === Number(typed);
}

function replyOf(answer: string): string {
  try {
    const value: unknown = JSON.parse(answer);
    if (typeof value === "object" && value !== null && "reply" in value && typeof value.reply === "string")
      return value.reply;
  } catch {
    // An older herrscher says it as plain text.
  }
  return answer;
}

/** What can be done to a session: each asked first, validated before anything is sent (herrscher.md §9). */
export function actionsOf(
  facts: RowFacts,
  channel: Channel,
  taken: () => ReadonlySet<string>,
  carry: Carry,
): SourceAction[] {
  const way =
    channel.by === "program" ? ["no daemon runs: the herrscher program does it, and builds its gateways first"] : [];
  return VERBS.map(({ inputs, order, says, title, verb }): SourceAction => {
    const asked = inputs(facts);
    return {
      id: `herrscher.${verb}`,
      title,
      disabled: disabledReason(verb, facts, channel),
      inputs: asked,
      says: (values) => [...says(facts, values).filter((line) => line !== ""), ...way],
      run: async (values) => {
        const filled = { ...Object.fromEntries(asked.map((input) => [input.name, input.initial ?? ""])), ...values };
        for (const input of asked) checkInput(input, filled[input.name] ?? "");
        return carry(facts, verb, order(facts, filled, taken()));
      },
    };
  });
}

function checkInput(input: ActionInput, value: string): void {
  if (value.includes("\0")) throw new Error(`${input.label}: a NUL byte cannot be sent; nothing was sent`);
  if (input.choices !== undefined && !input.choices.includes(value)) {
    throw new Error(`${input.label}: one of ${input.choices.join(", ")}; nothing was sent`);
  }
  const wrong = input.check?.(value) ?? null;
  if (wrong !== null) throw new Error(`${input.label}: ${wrong}; nothing was sent`);
}
