// Sessions of Claude Code and Codex in the shape and the sizes that a developer's machine has after some months: most are
// small, a few have tens of MB; long tool results, images in base64, sub-agents, forks. The same bytes for the same options.
import { appendFileSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Seeded } from "../src/demo/seeded.ts";
import { claudeLines } from "./agents-corpus/claude.mjs";
import { codexLines } from "./agents-corpus/codex.mjs";

const DAY = 86_400_000;
/** What is written at once: a file of any size is made with this much memory. */
const PIECE = 4 * 1024 * 1024;
/** How unequal sessions are: with 2,000 of 416 MB half are below 30 KB and the largest has some tens of MB. */
const SPREAD = 2.1;
const MOST_SHARE = 0.12;
/** Sessions below this have short turns. */
const BRIEF = 64_000;

/**
 * @param {object} options
 * @param {string} options.dir becomes a home directory with `.claude` and `.codex`
 * @param {number} [options.sessions] of both tools together; sub-agents are not counted
 * @param {number} [options.bytes] in all of them together, about
 * @param {readonly ("claude" | "codex")[]} [options.sources]
 * @param {string} [options.seed]
 * @param {Date} [options.now]
 * @returns {{ roots: { source: string, path: string }[], listed: number, bytes: number, largest: { source: string, path: string, bytes: number } }}
 */
export function makeAgentsCorpus({
  dir,
  sessions = 2000,
  bytes = sessions * 208_000,
  sources = ["claude", "codex"],
  seed = "agents",
  now = new Date(),
}) {
  const roots = { claude: join(dir, ".claude"), codex: join(dir, ".codex") };
  const sizes = new Seeded(`${seed} sizes`);
  const weights = Array.from({ length: sessions }, () => Math.exp(SPREAD * bell(sizes)));
  let weightLeft = weights.reduce((sum, weight) => sum + weight, 0);
  const most = sessions === 1 ? bytes : bytes * MOST_SHARE;
  const made = { bytes: 0, largest: { source: "", path: "", bytes: 0 } };
  for (let i = 0; i < sessions; i += 1) {
    const source = sources[Math.floor(i * 0.618) % sources.length];
    const random = new Seeded(`${seed} ${i}`);
    // No session is shorter than a turn: what that takes too much, the rest has less.
    const share = Math.min(most, (Math.max(0, bytes - made.bytes) * weights[i]) / weightLeft);
    weightLeft -= weights[i];
    const brief = share < BRIEF;
    const begins = now.getTime() - Math.floor(random.next() * 90 * DAY) - DAY;
    const written = (path, lines, limit) => {
      const { size, last } = write(path, lines, limit);
      // A session is never newer than the moment it is made for.
      const time = new Date(Math.min(last, now.getTime() - 60_000));
      utimesSync(path, time, time);
      made.bytes += size;
      if (size > made.largest.bytes) made.largest = { source, path, bytes: size };
    };
    if (source === "codex") {
      const { path, lines } = codexLines({ random, begins, brief });
      written(join(roots.codex, path), lines, share);
      continue;
    }
    const session = { random, begins, brief, id: random.uuid(), folder: random.below(40) };
    const { path, lines } = claudeLines(session);
    const agents = share > 100_000 && random.next() < 0.3 ? 1 + random.below(4) : 0;
    written(join(roots.claude, path), lines, agents === 0 ? share : share * 0.7);
    for (let n = 0; n < agents; n += 1) {
      const agent = random.hex(16);
      const inner = claudeLines({ ...session, random: new Seeded(`${seed} ${i} ${n}`), agent });
      written(join(roots.claude, inner.path), inner.lines, (share * 0.3) / agents);
      const about = {
        agentType: "general-purpose",
        description: "Look around",
        toolUseId: `toolu_${agent}`,
        spawnDepth: 1,
      };
      writeFileSync(join(roots.claude, inner.path.replace(/jsonl$/u, "meta.json")), JSON.stringify(about));
    }
  }
  const chosen = sources.map((source) => ({ source, path: roots[source] }));
  return { roots: chosen, listed: sessions, ...made };
}

/** Writes whole lines up to about `limit` bytes, at least the ones that a session cannot do without. */
function write(path, lines, limit) {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  let held = [];
  let waiting = 0;
  let size = 0;
  let last = 0;
  const flush = () => {
    appendFileSync(path, held.join(""));
    held = [];
    waiting = 0;
  };
  for (const { text, time, turnEnds } of lines) {
    held.push(`${text}\n`);
    const length = Buffer.byteLength(text) + 1;
    waiting += length;
    size += length;
    last = time;
    if (waiting > PIECE) flush();
    if (turnEnds && size >= limit) break;
  }
  flush();
  return { size, last };
}

/** About normally distributed, mean 0 and deviation 1. */
function bell(random) {
  let sum = 0;
  for (let i = 0; i < 12; i += 1) sum += random.next();
  return sum - 6;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      dir: { type: "string" },
      sessions: { type: "string", default: "2000" },
      bytes: { type: "string" },
      source: { type: "string", multiple: true, default: ["claude", "codex"] },
      seed: { type: "string", default: "agents" },
    },
  });
  if (values.dir === undefined) {
    console.error("usage: agents-corpus.mjs --dir DIR [--sessions N] [--bytes N] [--source NAME]… [--seed TEXT]");
    process.exit(2);
  }
  const { roots } = makeAgentsCorpus({
    dir: values.dir,
    sessions: Number(values.sessions),
    ...(values.bytes === undefined ? {} : { bytes: Number(values.bytes) }),
    sources: values.source,
    seed: values.seed,
  });
  for (const { source, path } of roots) console.log(`--root ${source}=${path}`);
}
