import { randomBytes } from "node:crypto";

/** A new UUIDv7: 48 bits of time, the rest random. */
export function newUuid7(at: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(at, 0, 6);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** ms since 1970 inside a UUIDv7, null for other ids. */
export function uuid7Time(id: string): number | null {
  const found = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/iu.exec(id);
  return found === null ? null : Number.parseInt(`${found[1]}${found[2]}`, 16);
}
