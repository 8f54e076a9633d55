import { parseQuery, type SearchHit, searchSessions } from "../search/index.ts";
import { byNewest } from "../session/snapshot.ts";
import { cleanLine, jsonText } from "../session/untrusted.ts";
import { cut } from "../ui/text/width.ts";
import { openWorkplace, print, readEverything, type SharedOptions } from "./context.ts";
import { WrongUsage } from "./wrong-usage.ts";

interface SearchOptions extends SharedOptions {
  limit?: string;
}

const DEFAULT_LIMIT = 100;

/** `forktail search QUERY [--limit N] [--json]`: prints hits as they come, newest first. 0: there were some, 1: none. */
export async function search(options: SearchOptions, words: string[]): Promise<number> {
  const query = parseQuery(words.join(" "));
  if (query.needles.length === 0) throw new WrongUsage('nothing to look for: forktail search WORDS or "A PHRASE"');
  const limit = limitOf(options.limit);
  const place = await openWorkplace(options);
  const { sessions } = await readEverything(place);
  const { memory, live, env } = place;
  const folded = ["superseded", "withdrawn", "hidden"] as const;
  const searched = [...sessions.values()]
    .filter(({ key }) => options.all || folded.every((mark) => !memory.get(mark, key)))
    .sort(byNewest);
  const stopped = new AbortController();
  // The reader has seen enough (`| head`).
  process.stdout.once("error", () => stopped.abort());
  let found = 0;
  const reader = live.reader.bind(live);
  for await (const event of searchSessions({
    sessions: searched,
    reader,
    query,
    limit,
    env,
    signal: stopped.signal,
  })) {
    if (event.type === "hit") {
      found += 1;
      await print(options.json ? jsonText(event) : hitLine(event));
    } else if (event.done) {
      if (options.json) await print(jsonText(event));
      for (const { key, message } of event.failed) note(`${key} could not be searched: ${message}`);
      if (event.more) note(`the first ${limit} hits are shown; --limit ${limit * 10} shows more`);
    }
  }
  await live.close();
  return found > 0 ? 0 : 1;
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = /^\d{1,9}$/u.test(text) ? Number(text) : 0;
  if (limit < 1) throw new WrongUsage(`--limit ${text}: a number from 1 on`);
  return limit;
}

/** `key  n  kind  snippet`; on a terminal never wider than it. */
function hitLine(hit: SearchHit): string {
  const where = hit.of === null ? "" : ` (${cleanLine(hit.of)})`;
  const line = `${cleanLine(hit.key)}${where}  ${hit.n}  ${hit.kind}  ${hit.snippet}`;
  return process.stdout.isTTY ? cut(line, Math.max(40, process.stdout.columns ?? 100)) : line;
}

function note(text: string): void {
  process.stderr.write(`forktail: ${cleanLine(text)}\n`);
}
