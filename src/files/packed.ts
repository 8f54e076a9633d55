import { createHash } from "node:crypto";
import { pipeline, Readable, type Transform } from "node:stream";
import { createZstdCompress, createZstdDecompress } from "node:zlib";
import { type OpenFile, openRegular } from "./open.ts";

const PIECE = 1024 * 1024;

/** What bytes are, without the bytes. */
export interface Fingerprint {
  bytes: number;
  /** Lower-case hex. */
  sha256: string;
}

/** A packed file does not hold what it should. */
class Damaged extends Error {
  override name = "Damaged";
}

/** The first `bytes` of an open file in pieces. Throws when the file is shorter. */
export async function* piecesOf(file: OpenFile, bytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes; at += PIECE) {
    const length = Math.min(PIECE, bytes - at);
    const piece = file.read(at, length);
    if (piece.length < length) throw new Error(`${file.path} became shorter while it was read; try again`);
    yield piece;
  }
}

/** Fingerprint of pieces as they pass; `at` asks for the one of a beginning too, null when the whole is shorter. */
export async function fingerprint(
  pieces: AsyncIterable<Uint8Array>,
  at: number | null = null,
): Promise<Fingerprint & { beginning: string | null }> {
  const whole = createHash("sha256");
  let bytes = 0;
  let beginning: string | null = at === 0 ? whole.copy().digest("hex") : null;
  for await (const piece of pieces) {
    if (at !== null && beginning === null && bytes + piece.length >= at) {
      const cut = at - bytes;
      whole.update(piece.subarray(0, cut));
      beginning = whole.copy().digest("hex");
      whole.update(piece.subarray(cut));
    } else whole.update(piece);
    bytes += piece.length;
  }
  return { bytes, sha256: whole.digest("hex"), beginning };
}

/** Pieces compressed with zstd, as a stream: nothing is held whole. */
export function packed(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return through(pieces, createZstdCompress());
}

/** What a packed file holds, at most `expected.bytes`; at the end it was exactly what was expected, or `Damaged` was thrown. */
export async function* unpacked(path: string, expected: Fingerprint): AsyncGenerator<Uint8Array> {
  using file = openRegular(path);
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    for await (const piece of through(piecesOf(file, file.size), createZstdDecompress())) {
      bytes += piece.length;
      if (bytes > expected.bytes) throw new Damaged(`${path} holds more than it should`);
      hash.update(piece);
      yield piece;
    }
  } catch (error) {
    if (error instanceof Error && "code" in error && /^Z(?:STD)?_/u.test(String(error.code))) throw damaged(path);
    throw error;
  }
  if (bytes !== expected.bytes || hash.digest("hex") !== expected.sha256) throw damaged(path);
}

/** Reads a packed file to its end. Throws `Damaged` when it does not hold exactly what was expected. */
export async function verifyPacked(path: string, expected: Fingerprint): Promise<void> {
  for await (const piece of unpacked(path, expected)) void piece;
}

function damaged(path: string): Damaged {
  return new Damaged(`${path} is damaged: it does not hold what was kept`);
}

function through(pieces: AsyncIterable<Uint8Array>, transform: Transform): AsyncIterable<Uint8Array> {
  // A failure of either end destroys both, and so reaches whoever reads.
  pipeline(Readable.from(pieces), transform, () => undefined);
  return transform;
}
