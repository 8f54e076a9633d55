import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { CannotOpen, openRegular } from "../files/open.ts";
import { replaceFile } from "../files/publish.ts";
import { byNewest, type Snapshot } from "../session/snapshot.ts";

/** Raise it when a snapshot's shape changes. */
const HEAD = "forktail snapshots 1 ";
const MOST = 500;

/**
 * The sessions as they were when forktail was last left, so that a start shows them at once, before anything is read. They are
 * marked as what they are: remembered, not seen.
 */
export class SnapshotCache {
  readonly #path: string;

  constructor(directory: string) {
    this.#path = join(directory, "snapshots.json");
  }

  /** What was remembered of these roots (absolute paths); empty when there is nothing, or it is damaged. */
  load(roots: ReadonlySet<string>): Snapshot[] {
    try {
      using file = openRegular(this.#path);
      const bytes = file.read(0, file.size);
      const end = bytes.indexOf(0x0a);
      const head = bytes.toString("latin1", 0, Math.max(0, end));
      const body = bytes.subarray(end + 1);
      if (end < 0 || head !== HEAD + crc32(body).toString(16)) return [];
      // The checksum and the version say that this program wrote it.
      const saved = JSON.parse(body.toString("utf8")) as Snapshot[];
      return saved.filter((one) => roots.has(one.root)).map(remembered);
    } catch (error) {
      if (error instanceof CannotOpen || error instanceof SyntaxError) return [];
      throw error;
    }
  }

  /** Keeps the newest: the first screens. The rest is there before anybody has scrolled to it. */
  async save(snapshots: Iterable<Snapshot>): Promise<void> {
    const newest = [...snapshots].sort(byNewest).slice(0, MOST);
    const body = Buffer.from(JSON.stringify(newest));
    mkdirSync(join(this.#path, ".."), { recursive: true, mode: 0o700 });
    const head = Buffer.from(`${HEAD}${crc32(body).toString(16)}\n`);
    await replaceFile(this.#path, Buffer.concat([head, body]), { mode: 0o600 });
  }
}

/** What depended on the moment is not known any more. */
function remembered(snapshot: Snapshot): Snapshot {
  const why = [`remembered from the last time (${snapshot.status}); being read again`];
  const passing = snapshot.status === "working" || snapshot.status === "needs-input";
  return {
    ...snapshot,
    status: passing ? "unknown" : snapshot.status,
    certainty: "guess",
    why: [...why, ...snapshot.why],
    livePane: null,
  };
}
