// Measures the built program on a pseudo-terminal: what a person waits for, and what it costs while nobody looks.
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { encode } from "../src/sources/statefile/index.ts";
import { Pty } from "../test/support/pty-program.ts";
import { makeCorpus } from "./corpus.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
const PROGRAM = join(ROOT, "dist/forktail.js");
const SIZE = { cols: 140, rows: 40 };
/** Kernel ticks a second, in which /proc/<pid>/stat counts. */
const TICKS = 100;

const CORPORA = [
  { name: "1 session", sessions: 1 },
  { name: "1,000 sessions", sessions: 1000 },
  { name: "10,000 sessions", sessions: 10_000 },
  { name: "1 session of 50,000 records", sessions: 1, records: 50_000 },
];

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    runs: { type: "string", default: "5" },
    only: { type: "string" },
    idle: { type: "string", default: "10" },
  },
});
const runs = Number(values.runs);
const idleSeconds = Number(values.idle);

const work = mkdtempSync(join(tmpdir(), "forktail-bench-"));
const rows = [];
try {
  for (const corpus of CORPORA.filter(({ name }) => values.only === undefined || name.startsWith(values.only))) {
    note(`${corpus.name}: making it`);
    const dir = join(work, `corpus-${rows.length}`);
    const { roots } = await makeCorpus({ ...corpus, dir });
    rows.push({ corpus: corpus.name, ...(await measure(corpus, roots[0].path)) });
    rmSync(dir, { recursive: true, force: true });
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
console.log(values.json ? JSON.stringify({ node: process.version, runs, rows }, null, 2) : table(rows));

async function measure(corpus, root) {
  const floor = { node: median(times(runs, () => timed(() => execFileSync(process.execPath, ["-e", "0"])))) };
  const cat = () =>
    execFileSync("find", [root, "-type", "f", "-exec", "cat", "{}", "+"], { stdio: ["ignore", "ignore", "inherit"] });
  floor.cat = median(times(Math.min(runs, 3), () => timed(cat)));
  const files = execFileSync("find", [root, "-type", "f", "-printf", "%s %T@ %p\n"], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  const found = files
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
  const bytes = found.reduce((sum, [size]) => sum + Number(size), 0);
  const [, , newest] = found.reduce((a, b) => (Number(a[1]) > Number(b[1]) ? a : b));

  const cold = [];
  const coldAll = [];
  const warm = [];
  const warmAll = [];
  for (let run = 0; run < runs; run += 1) {
    note(`${corpus.name}: start ${run + 1} of ${runs}`);
    const state = join(work, `state-${run}`);
    const first = await start(root, state, corpus.sessions);
    cold.push(first.painted);
    coldAll.push(first.complete);
    await leave(first.pty);
    const second = await start(root, state, corpus.sessions);
    warm.push(second.painted);
    warmAll.push(second.complete);
    await leave(second.pty);
    rmSync(state, { recursive: true, force: true });
  }

  note(`${corpus.name}: keys, idle ${idleSeconds} s, appends`);
  const { pty } = await start(root, join(work, "state"), corpus.sessions);
  await quiet(pty);
  const opened = corpus.records === undefined ? null : await open(pty);
  const keys = [];
  for (let i = 0; i < 10 * runs; i += 1) {
    // In a list down and up again; in the one long session always further up.
    const key = corpus.records !== undefined ? "ctrl+u" : corpus.sessions > 1 && i % 2 === 0 ? "j" : "k";
    if (corpus.sessions === 1 && corpus.records === undefined)
      keys.push(await toFrame(pty, () => pty.press(i % 2 === 0 ? "?" : "Escape")));
    else keys.push(await toFrame(pty, () => pty.press(key)));
    await quiet(pty, 60);
  }
  await quiet(pty, 1500);
  const before = { cpu: cpuSeconds(pty.process.pid), bytes: pty.terminal.bytes };
  await new Promise((resolve) => setTimeout(resolve, idleSeconds * 1000));
  const idle = {
    cpu: ((cpuSeconds(pty.process.pid) - before.cpu) / idleSeconds) * 100,
    bytes: pty.terminal.bytes - before.bytes,
  };
  const memory = residentMegabytes(pty.process.pid);
  if (corpus.records !== undefined) pty.press("G");
  await quiet(pty);
  const appends = [];
  let n = 1_000_000;
  for (let i = 0; i < 2 * runs; i += 1) {
    n += 1;
    const words = `appended ${n}`;
    const record = {
      n,
      kind: "message",
      id: "00c0ffee",
      time: new Date().toISOString(),
      type: "text/plain",
      via: "bench",
      len: 0,
      body: Buffer.from(words),
    };
    appends.push(await toScreen(pty, words, () => appendFileSync(newest, encode(record))));
    await quiet(pty, 150);
  }
  await leave(pty);
  rmSync(join(work, "state"), { recursive: true, force: true });
  return {
    megabytes: bytes / 1e6,
    nodeMs: floor.node,
    catMs: floor.cat,
    coldMs: median(cold),
    coldAllMs: median(coldAll),
    warmMs: median(warm),
    warmAllMs: median(warmAll),
    openMs: opened,
    keyMs: median(keys),
    keyWorstMs: Math.max(...keys),
    appendMs: median(appends),
    idleCpuPercent: idle.cpu,
    idleBytes: idle.bytes,
    memoryMb: memory,
  };
}

/** Starts the program; ms until a session's row is on the screen, and until the header counts them all. */
async function start(root, state, sessions) {
  const began = performance.now();
  const pty = new Pty([process.execPath, PROGRAM, "--root", `statefile=${root}`], {
    ...SIZE,
    cwd: work,
    env: { HOME: work, PATH: "/usr/bin:/bin", LANG: "C.UTF-8", COLORTERM: "truecolor", FORKTAIL_STATE_DIR: state },
  });
  const row = /^\s*\S+ .+ (?:now|\d+[smhdw])/u;
  const painted = await onScreen(pty, began, (lines) => lines.slice(1, 4).some((line) => row.test(line)));
  const count = new RegExp(`(?:^|\\s)(?:${sessions}|${sessions.toLocaleString("en-US")})\\s*$`, "u");
  const complete = await onScreen(pty, began, (lines) => count.test(lines[0] ?? ""));
  return { pty, painted, complete };
}

/** Opens the selected session in the whole width of its pane; ms until its last record is on the screen. */
async function open(pty) {
  const ms = await toFrame(pty, () => pty.press("Enter"));
  await quiet(pty);
  return ms;
}

async function leave(pty) {
  pty.press("q");
  const late = setTimeout(() => pty.process.kill("SIGKILL"), 5000);
  await pty.ending;
  clearTimeout(late);
}

/** Resolves, with the ms since `began`, when the screen is as wanted. Looks after every piece of output. */
function onScreen(pty, began, ok, mostMs = 120_000) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      pty.process.kill("SIGKILL");
      reject(new Error(`the screen did not become what was waited for:\n${pty.terminal.framed()}`));
    }, mostMs);
    const look = () => {
      if (!ok(pty.terminal.lines())) return;
      clearTimeout(late);
      pty.onScreen = null;
      resolve(performance.now() - began);
    };
    pty.onScreen = look;
    look();
  });
}

/** ms from an action to the first byte of the frame that answers it. */
function toFrame(pty, act, mostMs = 5000) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no frame within ${mostMs} ms:\n${pty.terminal.framed()}`)), mostMs);
    const began = performance.now();
    pty.onData = () => {
      clearTimeout(late);
      pty.onData = null;
      resolve(performance.now() - began);
    };
    act();
  });
}

function toScreen(pty, words, act) {
  const began = performance.now();
  act();
  return onScreen(pty, began, (lines) => lines.some((line) => line.includes(words)), 20_000);
}

/** Waits until nothing was written for a while. */
async function quiet(pty, ms = 700) {
  for (let bytes = -1; bytes !== pty.terminal.bytes; ) {
    bytes = pty.terminal.bytes;
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

function cpuSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

function residentMegabytes(pid) {
  return Number(/^VmRSS:\s+(\d+)/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
}

function timed(act) {
  const began = performance.now();
  act();
  return performance.now() - began;
}

function times(count, act) {
  return Array.from({ length: count }, act);
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function note(text) {
  process.stderr.write(`${text}\n`);
}

function table(measured) {
  const ms = (value) => (value >= 100 ? `${Math.round(value)} ms` : `${value.toFixed(1)} ms`);
  const over = (value, floor) => `${ms(value)} (${(value / floor).toFixed(1)}×)`;
  const columns = [
    ["", (row) => row.corpus],
    ["files", (row) => `${row.megabytes.toFixed(1)} MB`],
    ["node alone", (row) => ms(row.nodeMs)],
    ["`cat` of it", (row) => ms(row.catMs)],
    ["first session on screen, cold", (row) => over(row.coldMs, row.nodeMs)],
    ["all listed, cold", (row) => over(row.coldAllMs, row.nodeMs + row.catMs)],
    ["first session on screen, warm", (row) => over(row.warmMs, row.nodeMs)],
    ["all listed, warm", (row) => over(row.warmAllMs, row.nodeMs)],
    ["key to frame", (row) => `${ms(row.keyMs)} (worst ${ms(row.keyWorstMs)})`],
    ["append to screen", (row) => ms(row.appendMs)],
    [`idle ${idleSeconds} s`, (row) => `${row.idleCpuPercent.toFixed(2)} % CPU, ${row.idleBytes} B`],
    ["memory", (row) => `${Math.round(row.memoryMb)} MB`],
  ];
  // One measure a line: the table stays narrow enough to read.
  const [[, nameOf], ...measures] = columns;
  return [
    `| | ${measured.map(nameOf).join(" | ")} |`,
    `|---|${measured.map(() => "---:|").join("")}`,
    ...measures.map(([title, cell]) => `| ${title} | ${measured.map(cell).join(" | ")} |`),
    "",
    `Node ${process.version}, ${SIZE.cols}×${SIZE.rows}, medians of ${runs} starts; × is against Node alone, and for all cold files against Node plus \`cat\`.`,
  ].join("\n");
}
