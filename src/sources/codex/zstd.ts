import { zstdDecompressSync } from "node:zlib";
import { type ByteSource, bytesOf } from "../../files/fold.ts";

/** Most that a compressed file may unfold to: it claims its own size, and nothing is made that big on its word. */
const MOST_PLAIN = 512 * 1024 * 1024;
const MOST_COMPRESSED = 256 * 1024 * 1024;

/** A whole `.zst` in memory, or why it cannot be had. */
export function decompressed(bytes: ByteSource): { ok: true; bytes: ByteSource } | { ok: false; reason: string } {
  if (bytes.size > MOST_COMPRESSED) return { ok: false, reason: "the compressed file is too big to be read" };
  try {
    const plain = zstdDecompressSync(bytes.read(0, bytes.size), { maxOutputLength: MOST_PLAIN });
    return { ok: true, bytes: bytesOf(plain) };
  } catch (error) {
    const tooBig = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    return { ok: false, reason: tooBig ? "it unfolds to more than 512 MB" : "it is damaged or still being written" };
  }
}
