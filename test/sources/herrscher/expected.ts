import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { LocalFoldedFiles } from "../../../src/files/folded-files.ts";
import {
  BadState,
  invocation,
  isLegacy,
  isValidName,
  lockFilePath,
  participantsPath,
  places,
  readAgents,
  readConfig,
  readParticipants,
  readStateFile,
  readTranscript,
  readTranscriptLast,
  socketPaths,
  tornTail,
  transcriptFold,
  transcriptPath,
  transcriptSums,
} from "../../../src/sources/herrscher/index.ts";
import { noSums } from "../../../src/sources/herrscher/transcript-fold.ts";
import { readFixture } from "../../support/fixtures.ts";

interface ExpectedRow extends Record<string, unknown> {
  name: string;
  entries: number;
  status: string;
  droppedLines: number;
  tornTail: boolean;
  usageReported: boolean;
}

export interface Expected {
  roots: Record<string, { sessions?: ExpectedRow[]; defaultSort?: string[] } & Record<string, unknown>>;
  captures: {
    events: { lines: number; byType: Record<string, number>; turns: number; busyAfterEachLine: boolean[] };
    commands: { argv: string[] | null; raw: string | null; ok: boolean }[];
  };
}

export const expected = readFixture<Expected>("herrscher", "EXPECTED.json");
export const ROOTS = Object.keys(expected.roots);

function long(text: string | null): unknown {
  if (text === null || text.length <= 200) return text;
  return { length: text.length, sha256: createHash("sha256").update(text).digest("hex") };
}

/** What the library says of a root, in the words of EXPECTED.json. */
export async function describeRoot(dir: string): Promise<Record<string, unknown>> {
  const lockPath = lockFilePath(join(dir, "state.json"));
  const pid = existsSync(lockPath) ? Number(readFileSync(lockPath, "utf8")) : null;
  const lock = pid === null ? null : { file: ".state.json.lock", pid, alive: false };
  let state: ReturnType<typeof readStateFile>;
  try {
    state = readStateFile(join(dir, "state.json"));
  } catch (error) {
    if (!(error instanceof BadState)) throw error;
    return { error: error.message, lock, sessions: [] };
  }
  if (state === null) throw new Error("no state file");
  const rows = state.rows ?? [];
  const files = new LocalFoldedFiles();
  const tree = places(rows.map((row) => row.session));
  const facts = new Map<string, { cost: number; tokens: number }>();
  const described: Record<string, unknown>[] = [];
  for (const { session } of rows) {
    const path = isValidName(session.name) ? transcriptPath(dir, session.name) : "";
    const folded = path === "" ? null : await files.advance(transcriptFold, path);
    const sums = folded?.ok ? transcriptSums(folded.folded.state) : noSums();
    facts.set(session.name, { cost: sums.cost, tokens: sums.tokensIn + sums.tokensOut });
    const entries = path === "" ? [] : readTranscript(path);
    const { vendor, model, effort } = invocation(session);
    const place = tree.get(session.name);
    const participants = path === "" ? [] : readParticipants(participantsPath(dir, session.name));
    const shownDir = session.dir || session.worktree || null;
    described.push({
      name: session.name,
      nameValid: isValidName(session.name),
      id: session.id,
      idBackfilled: rows.find((row) => row.session === session)?.idBackfilled,
      incarnation: session.incarnation || null,
      type: session.type,
      channelID: session.channelID,
      vendor: session.vendor || null,
      vendorShown: vendor,
      model,
      effort,
      cmd: session.cmd,
      backend: session.backend || "stream",
      status: session.archived ? "archived" : session.pausedReason !== "" ? "paused" : "running",
      pausedReason: session.pausedReason || null,
      archived: session.archived,
      resumable: session.resumeToken !== "",
      resumeToken: session.resumeToken || null,
      parent: session.parent || null,
      parentExists: place?.parentExists,
      cohortRoot: place?.root,
      depth: place?.depth,
      children: place?.children,
      cohort: (place?.cohort.length ?? 0) > 1 ? place?.cohort : null,
      caps: {
        cost: session.costCap,
        tokens: Number(session.tokenCap),
        cohortCost: session.cohortCostCap,
        cohortTokens: Number(session.cohortTokenCap),
      },
      transcriptExists: folded?.ok === true,
      entries: sums.entries,
      droppedLines: sums.droppedLines,
      tornTail: folded?.ok ? tornTail(folded.folded.state) !== null : false,
      bytes: folded?.ok ? statSync(path).size : 0,
      lastLineBytes: sums.lastLineBytes,
      userEntries: sums.userEntries,
      turns: sums.turns,
      cost: sums.cost,
      tokensIn: sums.tokensIn,
      tokensOut: sums.tokensOut,
      tokens: sums.tokensIn + sums.tokensOut,
      cacheRead: sums.cacheRead,
      cacheCreate: sums.cacheCreate,
      usageReported: sums.reportedTurns > 0,
      startedAt: sums.startedAt || null,
      lastActivity: (path === "" ? "" : readTranscriptLast(path)) || null,
      lastRole: sums.lastRole || null,
      activity: sums.entries === 0 ? "none" : sums.lastRole === "user" ? "awaiting-reply" : "idle",
      task: long(entries.findLast((entry) => entry.role === "user")?.text ?? null),
      lastText: long(entries.at(-1)?.text ?? null),
      participants,
      gateways: session.gateways,
      isLegacy: isLegacy(session),
      owned: session.owned,
      worktree: session.worktree || null,
      dir: shownDir,
      dirAbsolute: shownDir === null ? null : isAbsolute(shownDir),
      project: session.project || null,
      agent: session.agent || null,
      extractor: session.extractor || null,
      journal: session.journal || null,
    });
  }
  for (const row of described) {
    const members = tree.get(String(row.name))?.cohort ?? [];
    row.cohortCost = members.reduce((sum, name) => sum + (facts.get(name)?.cost ?? 0), 0);
    row.cohortTokens = members.reduce((sum, name) => sum + (facts.get(name)?.tokens ?? 0), 0);
  }
  const last = (row: Record<string, unknown>): string => String(row.lastActivity ?? "");
  const sorted = [...described].sort((a, b) => (last(a) < last(b) ? 1 : last(a) > last(b) ? -1 : 0));
  const config = readConfig(dir);
  const agents = await readAgents(dir);
  return {
    error: null,
    home: state.home,
    workspace: state.workspace || null,
    repo: state.repo || null,
    instanceID: state.instanceID,
    commandSocket: socketPaths({ TMPDIR: "/t" }, state.instanceID)?.command.slice("/t/".length),
    sessionCount: rows.length,
    defaultSort: sorted.map((row) => row.name),
    lock,
    sessions: described,
    orphanTranscripts: orphans(
      dir,
      rows.map((row) => row.session.name),
    ),
    config: config === null ? undefined : withoutHome(config),
    agents: agents.length === 0 ? undefined : agents,
  };
}

function withoutHome(config: NonNullable<ReturnType<typeof readConfig>>): Record<string, unknown> {
  const { home: _home, ...rest } = config;
  return rest;
}

function orphans(dir: string, names: string[]): string[] | undefined {
  if (!existsSync(join(dir, "transcripts"))) return undefined;
  const files = readdirSync(join(dir, "transcripts")).filter((file) => file.endsWith(".jsonl"));
  const without = files.filter((file) => !names.includes(file.slice(0, -".jsonl".length)));
  return without.length === 0 ? undefined : without;
}
