// Measures the built program on a pseudo-terminal: what a person waits for, and what it costs while nobody looks.
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CORPORA, make } from "./bench/corpora.mjs";
import { median, timed, times } from "./bench/numbers.mjs";
import {
  cpuSeconds,
  helpWhileReading,
  leave,
  memoryOf,
  quiet,
  SIZE_TEXT,
  start,
  toFrame,
  toScreen,
} from "./bench/screen.mjs";
import { table } from "./bench/table.mjs";
import { fetchCcusage, measureUsage } from "./bench/usage.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
/** After so long, ms, memory has come to rest: reading threads are gone, and V8 has given back their pages. */
const SETTLE_MS = 20_000;

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    runs: { type: "string", default: "5" },
    only: { type: "string" },
    idle: { type: "string", default: "30" },
    program: { type: "string", default: join(ROOT, "dist/forktail.js") },
  },
});
const runs = Number(values.runs);
const idleSeconds = Number(values.idle);
const { program } = values;

const work = mkdtempSync(join(tmpdir(), "forktail-bench-"));
const rows = [];
try {
  const chosen = CORPORA.filter(({ name }) => values.only === undefined || name.includes(values.only));
  const ccusage = chosen.some((corpus) => corpus.agents) ? fetchCcusage(join(work, "ccusage")) : null;
  for (const corpus of chosen) {
    note(`${corpus.name}: making it`);
    const dir = join(work, "corpus");
    const made = await make(corpus, dir);
    const usage = corpus.agents ? measureUsage({ program, ccusage, dir, work, runs: Math.min(runs, 3) }) : null;
    rows.push({ corpus: corpus.name, ...(await measure(corpus, made)), usage });
    rmSync(dir, { recursive: true, force: true });
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
const report = { node: process.version, runs, rows };
console.log(values.json ? JSON.stringify(report, null, 2) : table(rows, { runs, idleSeconds, size: SIZE_TEXT }));

async function measure(corpus, { roots, paths, bytes, newest, record }) {
  const options = (state) => ({ program, roots, state, sessions: corpus.sessions, cwd: work });
  const begin = (state) => start(options(state));
  const cat = () =>
    execFileSync("find", [...paths, "-type", "f", "-exec", "cat", "{}", "+"], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  const nodeMs = median(times(runs, () => timed(() => execFileSync(process.execPath, ["-e", "0"]))));
  const catMs = median(times(Math.min(runs, 3), () => timed(cat)));
  const took = { cold: [], coldAll: [], warm: [], warmAll: [] };
  for (let run = 0; run < runs; run += 1) {
    note(`${corpus.name}: start ${run + 1} of ${runs}`);
    const state = join(work, `state-${run}`);
    const first = await begin(state);
    took.cold.push(first.painted);
    took.coldAll.push(first.complete);
    await leave(first.pty);
    const second = await begin(state);
    took.warm.push(second.painted);
    took.warmAll.push(second.complete);
    await leave(second.pty);
    rmSync(state, { recursive: true, force: true });
  }

  note(`${corpus.name}: keys while it reads`);
  const readingKeys = await helpWhileReading(options(join(work, "state-keys")));
  rmSync(join(work, "state-keys"), { recursive: true, force: true });

  note(`${corpus.name}: memory, keys, idle ${idleSeconds} s, appends`);
  const first = await begin(join(work, "state"));
  const memoryCold = await settled(first.pty);
  await leave(first.pty);
  const { pty } = await begin(join(work, "state"));
  const memoryWarm = await settled(pty);
  const { pid } = pty.process;
  const isLong = corpus.records !== undefined;
  const openMs = isLong ? await toFrame(pty, () => pty.press("Enter")) : null;
  const keys = await keyTimes(pty, corpus.sessions, isLong);
  await quiet(pty, 1500);
  const before = { cpu: cpuSeconds(pid), bytes: pty.terminal.bytes };
  await new Promise((resolve) => setTimeout(resolve, idleSeconds * 1000));
  const idleCpuPercent = ((cpuSeconds(pid) - before.cpu) / idleSeconds) * 100;
  const idleBytes = pty.terminal.bytes - before.bytes;
  if (isLong) pty.press("G");
  await quiet(pty);
  const appends = [];
  for (let i = 0; i < 2 * runs; i += 1) {
    const words = `appended ${i + 1}.`;
    const bytesOf = record(words);
    appends.push(await toScreen(pty, words, () => appendFileSync(newest, bytesOf)));
    await quiet(pty, 150);
  }
  await leave(pty);
  rmSync(join(work, "state"), { recursive: true, force: true });
  return {
    megabytes: bytes / 1e6,
    nodeMs,
    catMs,
    coldMs: median(took.cold),
    coldAllMs: median(took.coldAll),
    warmMs: median(took.warm),
    warmAllMs: median(took.warmAll),
    openMs,
    keyMs: median(keys),
    keyWorstMs: Math.max(...keys),
    readingKeyMs: readingKeys.length === 0 ? null : median(readingKeys),
    readingKeyWorstMs: readingKeys.length === 0 ? null : Math.max(...readingKeys),
    appendMs: median(appends),
    idleCpuPercent,
    idleBytes,
    memoryColdMb: memoryCold.now,
    memoryWarmMb: memoryWarm.now,
    memoryPeakMb: memoryCold.peak,
  };
}

async function settled(pty) {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  await quiet(pty);
  return memoryOf(pty.process.pid);
}

/** In a list down and up again; in one long session always further up. */
async function keyTimes(pty, sessions, isLong) {
  if (isLong) await quiet(pty);
  const keys = [];
  for (let i = 0; i < 10 * runs; i += 1) {
    const isEven = i % 2 === 0;
    const key = isLong ? "ctrl+u" : sessions > 1 ? (isEven ? "j" : "k") : isEven ? "?" : "Escape";
    keys.push(await toFrame(pty, () => pty.press(key)));
    await quiet(pty, 60);
  }
  return keys;
}

function note(text) {
  process.stderr.write(`${text}\n`);
}
