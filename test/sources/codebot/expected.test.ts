import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { runNow } from "../../../src/files/fold.ts";
import { openRegular } from "../../../src/files/open.ts";
import { readSmallFile, readSmallText } from "../../../src/sources/codebot/atomic.ts";
import { leavesOf, pathTo } from "../../../src/sources/codebot/chain-state.ts";
import { buildSnapshot, entryChain } from "../../../src/sources/codebot/context.ts";
import { contextLength, syntheticCount } from "../../../src/sources/codebot/context-count.ts";
import { codebotFold, damageOf, type SessionState, settled } from "../../../src/sources/codebot/fold.ts";
import {
  blockersOf,
  compareTaskIDs,
  effectiveGoal,
  History,
  listPlans,
  Manager,
  nextClaimable,
  planTitle,
  RosterStore,
  readHistory,
  readSessionFile,
  readTaskDirectory,
  readTranscript,
  repairMessages,
  tasksDirectory,
  teamDirectory,
  transcriptsDirectory,
} from "../../../src/sources/codebot/index.ts";
import { planPath } from "../../../src/sources/codebot/plan-store.ts";
import { nativeOf } from "../../../src/sources/codebot/status.ts";
import { taskLabel } from "../../../src/sources/codebot/task.ts";
import { treeHash } from "../../support/tree-hash.ts";
import { EXPECTED, type ExpectedSession, pathOf, ROOT } from "./expected.ts";

function folded(path: string): SessionState {
  using file = openRegular(path);
  const state = codebotFold.initial();
  runNow(codebotFold.advance(state, file, 0));
  return settled(state);
}

/** Everything EXPECTED says of a session's file, as our fold says it. */
function described(session: ExpectedSession): Partial<ExpectedSession> {
  const path = pathOf(session);
  const state = folded(path);
  const { chain, flat } = state;
  const isTree = state.shape === "tree";
  const calls = state.entries.flatMap((facts) => facts.call ?? []);
  const goal = effectiveGoal(chain.goal);
  const plan = { phase: chain.plan?.phase ?? "off", slug: chain.plan?.slug ?? "", pre_mode: chain.plan?.preMode ?? "" };
  const planText = plan.slug === "" ? null : readSmallText(planPath(join(ROOT, "plans"), plan.slug));
  const common = {
    id: state.header?.sessionId ?? "",
    version: state.header?.version ?? 0,
    cwd: state.header?.cwd ?? "",
    created: state.header?.created ?? "",
    updated: state.updated,
    name: state.name,
    title: state.name.trim() !== "" ? state.name : state.firstMessage || (state.header?.sessionId ?? ""),
    first_message: state.firstMessage,
    message_count: state.messages,
    context_message_count: isTree ? contextLength(chain.context) : flat.history.length,
    branches: isTree ? state.leaves : 1,
    models: state.models,
    status: nativeOf(state).native,
    warnings: damageOf(state).map(({ kind, line }) => (line === null ? { kind } : { line, kind })),
    tokens: {
      calls: calls.length,
      input: sum(calls.map((call) => call.inputTokens)),
      output: sum(calls.map((call) => call.outputTokens)),
      cache_read: sum(calls.map((call) => call.cacheReadTokens)),
      cache_write: sum(calls.map((call) => call.cacheCreationTokens)),
      total: sum(calls.map((call) => call.totalTokens)),
    },
  };
  if (!isTree) {
    const { provider, model, effort } = flat;
    return {
      ...common,
      snapshot_model: { provider, model, reasoning_effort: effort },
      goal: { status: "off" },
      plan: { phase: "off" },
      rewinds: flat.rewinds,
    };
  }
  const onChain = pathTo(state.entries, state.index, chain.leaf).path;
  const times = {
    created_at: goal.createdAt,
    updated_at: goal.updatedAt,
    completed_at: goal.completedAt,
    blocked_at: goal.blockedAt,
    budget_limited_at: goal.budgetLimitedAt,
    usage_limited_at: goal.usageLimitedAt,
  };
  return {
    ...common,
    chain_name: chain.name ?? "",
    messages_by_role: state.byRole,
    entry_count: state.entries.length,
    leaf_id: chain.leaf,
    chain_entry_count: onChain.length,
    chain_message_count: chain.messages,
    synthetic_tool_results: syntheticCount(chain.context),
    leaf_ids: leavesOf(state.entries, state.index).map((facts) => facts.id),
    abandoned_entries: Object.keys(state.index).length - onChain.length,
    compactions_on_chain: chain.compactions,
    snapshot_model: { provider: chain.provider, model: chain.model, reasoning_effort: chain.effort },
    last_llm_model: state.lastModel,
    tokens_on_chain: {
      ...{ calls: chain.calls.calls, input: chain.calls.input, output: chain.calls.output },
      ...{ cache_read: chain.calls.cacheRead, cache_write: chain.calls.cacheWrite },
      total: chain.calls.input + chain.calls.output,
    },
    cache_breaks: calls.flatMap(({ cacheBreak }) =>
      cacheBreak === null
        ? []
        : [
            {
              ...{ prev: cacheBreak.prevCacheReadTokens, curr: cacheBreak.currCacheReadTokens },
              ...{ drop: cacheBreak.dropAbsolute, expected: cacheBreak.expected },
            },
          ],
    ),
    goal:
      goal.status === "off"
        ? { status: "off" }
        : {
            ...{ status: goal.status, id: goal.id, objective: goal.objective, reason: goal.reason },
            ...{ token_budget: goal.tokenBudget, tokens_used: goal.tokensUsed, blocked_count: goal.blockedCount },
            tokens_remaining: Math.max(0, goal.tokenBudget - goal.tokensUsed),
            set_timestamps: Object.entries(times).flatMap(([key, time]) => (time === null ? [] : [key])),
          },
    plan: {
      ...plan,
      recorded: chain.plan !== null,
      ...(plan.slug === "" ? {} : { file_exists: planText !== null, title: planTitle(planText ?? "") }),
    },
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

test.each(EXPECTED.sessions.map((session) => [session.id, session] as const))(
  "the fold says of %s everything that is expected",
  (_id, session) => {
    const expected: Record<string, unknown> = {};
    const elsewhere = ["file", "tasks", "team", "project_dir", "first_message_preview", "listed_by_codebot_0_3"];
    const alsoElsewhere = ["opened_by_codebot_0_3", "codebot_picker_if_1mib_scanner"];
    for (const [key, value] of Object.entries(session)) {
      if (![...elsewhere, ...alsoElsewhere].includes(key)) expected[key] = value;
    }
    expect(described(session)).toEqual(expected);
  },
);

test.each(EXPECTED.sessions.map((session) => [session.id, session] as const))(
  "the library lists and opens %s exactly where codebot does",
  (_id, session) => {
    const path = pathOf(session);
    const info = new Manager(dirname(path)).list().find((one) => one.path === path);
    expect(info !== undefined).toBe(session.listed_by_codebot_0_3);
    if (info !== undefined) {
      expect(info).toEqual({
        id: session.id,
        name: session.name,
        path,
        cwd: session.cwd,
        created: session.created,
        updated: session.updated,
        messageCount: session.message_count,
        firstMessage: session.first_message_preview,
      });
    }
    if (!session.opened_by_codebot_0_3) {
      expect(() => readSessionFile(path)).toThrow();
      return;
    }
    const { entries, leaf } = readSessionFile(path);
    const snapshot = buildSnapshot(entryChain(entries, leaf));
    expect(snapshot.messages).toHaveLength(session.context_message_count);
    expect(snapshot.messages.filter((message) => message.metadata?.result_unknown === true)).toHaveLength(
      session.synthetic_tool_results ?? 0,
    );
    expect({
      provider: snapshot.provider,
      model: snapshot.model,
      reasoning_effort: snapshot.reasoningEffort,
    }).toEqual(session.snapshot_model);
    expect(snapshot.name ?? "").toBe(session.chain_name);
    expect(effectiveGoal(snapshot.goal).status).toBe(session.goal.status);
    expect(snapshot.planPhase || "off").toBe(session.plan.phase);
  },
);

test.each(EXPECTED.sessions.map((session) => [session.id, session] as const))(
  "the tasks and the team of %s are as expected",
  (_id, session) => {
    const directory = readTaskDirectory(tasksDirectory(ROOT, session.id));
    const { tasks } = directory;
    const described = {
      total: tasks.length,
      pending: tasks.filter((task) => task.status === "pending").length,
      in_progress: tasks.filter((task) => task.status === "in_progress").length,
      completed: tasks.filter((task) => task.status === "completed").length,
      high_water_mark: directory.highWaterMark,
      next_id: directory.nextId,
      next_claimable: nextClaimable(tasks)?.id ?? null,
      unreadable: directory.unreadable,
      items: tasks.map((task) => {
        const { open, missing } = blockersOf(task, (id) => tasks.find((other) => other.id === id)?.status);
        return {
          ...{ id: task.id, subject: task.subject, status: task.status, owner: task.owner, label: taskLabel(task) },
          ...{ blocked_by: task.blockedBy, open_blockers: open, missing_blockers: missing, blocked: open.length > 0 },
        };
      }),
    };
    expect(directory.exists ? described : null).toEqual(session.tasks);

    const store = new RosterStore();
    store.setDir(teamDirectory(ROOT, session.id));
    const roster = store.snapshot();
    if (session.team === null) {
      expect(roster).toEqual({ team: "", description: "", members: [] });
      return;
    }
    const transcripts = Object.keys(session.team.transcripts).map((name) => {
      const bytes = readSmallFile(join(transcriptsDirectory(ROOT, session.id), `${name}.jsonl`));
      const { messages, tail } = readTranscript(bytes ?? Buffer.alloc(0));
      const used = messages.map(({ message }) => message.usage);
      const total = (key: "input" | "output" | "cache_read" | "cache_write") => sum(used.map((one) => one?.[key] ?? 0));
      const row = {
        messages: messages.length,
        after_repair: repairMessages(messages.map(({ message }) => message)).length,
        torn_tail: tail?.valid === false,
        ...{ input: total("input"), output: total("output") },
        ...{ cache_read: total("cache_read"), cache_write: total("cache_write") },
      };
      return [name, row] as const;
    });
    const named = transcripts.map(([name]) => name);
    expect({
      team: roster.team,
      description: roster.description,
      members: roster.members.map((member) => ({
        name: member.name,
        agent_type: member.agentType,
        color: member.color,
        kind: member.kind || "teammate",
        has_transcript: named.includes(member.name),
      })),
      transcripts: Object.fromEntries(transcripts),
      transcripts_without_roster_entry: named.filter((name) => !roster.members.some((one) => one.name === name)),
    }).toEqual(session.team);
  },
);

test("the sessions come newest first, across projects and formats", () => {
  const updated = EXPECTED.sessions.map((session) => Date.parse(session.updated));
  expect(updated).toEqual([...updated].sort((a, b) => b - a));
  for (const directory of new Set(EXPECTED.sessions.map((session) => dirname(pathOf(session))))) {
    const ours = new Manager(directory).list().map((info) => info.id);
    const theirs = EXPECTED.sessions.filter(
      (session) => dirname(pathOf(session)) === directory && session.listed_by_codebot_0_3,
    );
    expect(ours).toEqual(theirs.map((session) => session.id));
    expect(new Manager(directory).mostRecent()?.id).toBe(theirs[0]?.id);
  }
});

test("files that are no session are left out with the reason", () => {
  const skipped: { file: string; reason: string }[] = [];
  for (const directory of new Set(EXPECTED.sessions.map((session) => dirname(pathOf(session))))) {
    new Manager(directory).list(({ path, reason }) => {
      if (!reason.startsWith("unsupported version")) {
        skipped.push({ file: join("projects", basename(directory), basename(path)), reason });
      }
    });
  }
  expect(skipped.sort((a, b) => (a.file < b.file ? -1 : 1))).toEqual(EXPECTED.skipped_files);
});

test("plans are listed with their titles", () => {
  const plans = listPlans(join(ROOT, "plans")).map(({ name }) => ({
    name,
    title: planTitle(readSmallText(planPath(join(ROOT, "plans"), name)) ?? ""),
  }));
  expect(plans.sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual(EXPECTED.plans);
});

test("the prompt history of each project is recalled newest first, each prompt once", () => {
  const path = join(ROOT, "history.jsonl");
  const { entries, malformed } = readHistory(path);
  expect({ entries: entries.length, malformed }).toEqual({
    entries: EXPECTED.history.entries,
    malformed: EXPECTED.history.malformed,
  });
  for (const [project, prompts] of Object.entries(EXPECTED.history.recall_newest_first)) {
    const history = new History(path, project);
    expect(Array.from({ length: history.len() }, (_, index) => history.get(index))).toEqual(prompts);
  }
});

test("reading with the library changes nothing", () => {
  const before = treeHash(ROOT);
  for (const session of EXPECTED.sessions) folded(pathOf(session));
  readHistory(join(ROOT, "history.jsonl"));
  readTaskDirectory(tasksDirectory(ROOT, "7ea37ea3"));
  expect(treeHash(ROOT)).toEqual(before);
  expect(compareTaskIDs("8", "10")).toBeLessThan(0);
});
