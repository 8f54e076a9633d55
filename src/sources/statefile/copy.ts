import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { runSliced } from "../../files/fold.ts";
import { openRegular } from "../../files/open.ts";
import { publishNew, rangeOf } from "../../files/publish.ts";
import { walkRecords } from "./walk.ts";

/** A cut that is not in the file: nothing was made. */
export class NoSuchRecord extends Error {
  override name = "NoSuchRecord";
}

/**
 * Makes `to` from records 1 … n−1 of `from`, byte for byte (statefile.md §12). Safe while the writer appends: the bytes
 * of whole records never change. The destination must not exist and appears only when it is complete and was read back;
 * after a failure there is none. n ≤ 2 would be no session and is refused.
 */
export async function copy(from: string, to: string, n: number): Promise<void> {
  if (!Number.isInteger(n) || n < 3) throw new NoSuchRecord(`record ${n}: a copy must keep start and config`);
  const end = await endOfPrefix(from, n - 1);
  const source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const hash = createHash("sha256");
    await publishNew(to, hashed(rangeOf(source, 0, end), hash), {
      mode: 0o644,
      verify: async (temporary) => {
        if ((await endOfPrefix(temporary, n - 1)) !== end) throw new Error("the copy does not hold the same records");
        const made = createHash("sha256");
        const written = await open(temporary, "r");
        try {
          for await (const piece of rangeOf(written, 0, end)) made.update(piece);
        } finally {
          await written.close();
        }
        if (made.digest("hex") !== hash.digest("hex")) throw new Error("the copy differs from the original");
      },
    });
  } finally {
    await source.close();
  }
}

async function* hashed(
  pieces: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    hash.update(piece);
    yield piece;
  }
}

/** Offset behind record `count`. Decoded from the file as it is now: an offset remembered from before is not trusted. */
async function endOfPrefix(path: string, count: number): Promise<number> {
  using file = openRegular(path);
  let seen = 0;
  let end = 0;
  await runSliced(
    walkRecords(file, 0, (record) => {
      seen += 1;
      end = record.end;
      return seen < count;
    }),
  );
  if (seen < count) throw new NoSuchRecord(`record ${count + 1}: the file has only ${seen} whole records`);
  return end;
}
