// Makes any number of sessions of any size, the same bytes for the same options: for benchmarks and for trying things at scale.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { PLAYERS } from "../src/demo/players/index.ts";
import { timeline } from "../src/demo/scenario.ts";
import { Seeded } from "../src/demo/seeded.ts";

const WORDS =
  "the a of to and in is it that for on with as this not be are was by from or at an have which one all has can if will there when use file test error value line type name path state read write check cache index query user server client build config result session record value string number list first last new old next before after between while always never parse token limit count total".split(
    " ",
  );
const SUBJECTS = "Fix Add Remove Explain Speed-up Refactor Document Trace Rename Split".split(" ");
const OBJECTS =
  "the parser|the login page|the nightly job|retry logic|the cache keys|the export|old migrations|flaky tests|the release script|日本語の表示".split(
    "|",
  );
const DAY = 86_400;

/**
 * @param {object} options
 * @param {string} options.dir where the tools' directories are made
 * @param {number} [options.sessions] how many, over all sources
 * @param {number} [options.bytes] of text in all of them together, about
 * @param {string[]} [options.sources]
 * @param {number} [options.records] instead of `bytes`: about this many records in every session
 * @param {Date} [options.now]
 * @returns {Promise<{ roots: { source: string, path: string }[] }>}
 */
export async function makeCorpus({
  dir,
  sessions = 1000,
  bytes = sessions * 8192,
  sources = ["statefile"],
  records = 0,
  seed = "corpus",
  now = new Date(),
}) {
  const players = sources.map((source) => {
    const player = PLAYERS.find((one) => one.source === source);
    if (player === undefined) throw new Error(`nobody plays sessions of ${source}`);
    return player;
  });
  const stage = { dir, processes: [] };
  const sizes = new Seeded(`${seed} sizes`);
  // Few sessions are large: most of a real directory is small files.
  const weights = Array.from({ length: sessions }, () =>
    Math.exp(2.2 * (sizes.next() + sizes.next() + sizes.next() - 1.5)),
  );
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  for (let i = 0; i < sessions; i += 1) {
    const player = players[i % players.length];
    const random = new Seeded(`${seed} ${i}`);
    const beats =
      records > 0
        ? turns(random, (made) => made.records < records)
        : turns(random, (made) => made.bytes < (bytes * weights[i]) / whole);
    const scenario = {
      source: player.source,
      id: player.source === "statefile" ? random.hex(8) : random.uuid(),
      begins: -random.below(90 * DAY) - 3600,
      model: random.next() < 0.5 ? "anthropic/claude-sonnet-5" : "openai/gpt-6",
      limit: 200_000,
      cwd: `/srv/code/project-${random.below(40)}`,
      workers: [{ name: "laptop", drives: ["/srv/code"] }],
      beats,
    };
    const played = player.begin(scenario, stage);
    let last = now;
    for (const timed of timeline(scenario, [scenario])) {
      last = new Date(now.getTime() + Math.min(timed.at, -1) * 1000);
      played.play(timed, last);
    }
    await played.flush(last);
  }
  return { roots: players.map((player) => ({ source: player.source, path: player.root(dir) })) };
}

/** Turns of a conversation for as long as `more` says. */
function turns(random, more) {
  const beats = [{ after: 0, system: words(random, 120), source: "harness" }];
  const made = { records: 3, bytes: 700 };
  const add = (beat, text = "") => {
    beats.push({ after: 1 + random.below(9), ...beat });
    made.records += 1;
    made.bytes += text.length + 220;
  };
  let prompt = 4000;
  do {
    const asked =
      beats.length === 1
        ? `${pick(random, SUBJECTS)} ${pick(random, OBJECTS)} ${random.below(1000)}\n\n${words(random, 20)}`
        : words(random, 12 + random.below(40));
    add({ message: asked, via: "cli" }, asked);
    for (let left = 1 + random.below(4); left >= 0 && (made.records < 6 || more(made)); left -= 1) {
      const thought = words(random, 10 + random.below(60));
      if (random.next() < 0.4) add({ thinking: thought }, thought);
      const said = words(random, 8 + random.below(80));
      add({ text: said }, said);
      prompt = Math.min(199_000, prompt + 900 + random.below(2000));
      if (left > 0) {
        const code = `${pick(random, ["go test", "npm test --", "grep -rn", "sed -n 1,80p"])} ./${pick(random, WORDS)}/${pick(random, WORDS)}`;
        add({ call: "run", args: { worker: "laptop", code } }, code);
        add({ step: { prompt, output: said.length } });
        const output = words(random, 20 + random.below(300), "\n");
        const exit = random.next() < 0.15 ? 1 : 0;
        add({ result: output, exit, truncated: random.next() < 0.05 }, output);
      } else add({ step: { prompt, output: said.length } });
    }
  } while (more(made));
  return beats;
}

function words(random, count, every = ". ") {
  let text = "";
  for (let i = 0; i < count; i += 1) text += `${pick(random, WORDS)}${i % 11 === 10 ? every : " "}`;
  return text.trimEnd();
}

function pick(random, from) {
  return from[random.below(from.length)];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      dir: { type: "string" },
      sessions: { type: "string", default: "1000" },
      bytes: { type: "string" },
      records: { type: "string" },
      source: { type: "string", multiple: true, default: ["statefile"] },
      seed: { type: "string", default: "corpus" },
    },
  });
  if (values.dir === undefined) {
    console.error(
      "usage: corpus.mjs --dir DIR [--sessions N] [--bytes N | --records N] [--source NAME]… [--seed TEXT]",
    );
    process.exit(2);
  }
  const { roots } = await makeCorpus({
    dir: values.dir,
    sessions: Number(values.sessions),
    ...(values.bytes === undefined ? {} : { bytes: Number(values.bytes) }),
    ...(values.records === undefined ? {} : { records: Number(values.records) }),
    sources: values.source,
    seed: values.seed,
  });
  for (const { source, path } of roots) console.log(`--root ${source}=${path}`);
}
