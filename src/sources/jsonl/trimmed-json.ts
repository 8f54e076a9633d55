/**
 * JSON straight from bytes, with long strings cut: a line of 100 MB costs its scan, not three copies of itself.
 * What was cut is told by `cuts`: bytes the whole string had, by the head that was kept.
 */
export function parseTrimmed(bytes: Buffer, mostString: number, cuts: Map<string, number>): unknown {
  const reader = new TrimmedReader(bytes, mostString, cuts);
  return reader.document();
}

const MOST_DEPTH = 512;
/** Names of fields are kept whole up to here, whatever is asked for values. */
const MOST_NAME = 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

class TrimmedReader {
  readonly #bytes: Buffer;
  readonly #most: number;
  readonly #cuts: Map<string, number>;
  #at = 0;

  constructor(bytes: Buffer, most: number, cuts: Map<string, number>) {
    this.#bytes = bytes;
    this.#most = most;
    this.#cuts = cuts;
  }

  document(): unknown {
    const value = this.#value(0);
    this.#blanks();
    if (this.#at !== this.#bytes.length) this.#fail();
    return value;
  }

  #fail(): never {
    throw new SyntaxError(`no JSON at byte ${this.#at}`);
  }

  #blanks(): void {
    for (;;) {
      const byte = this.#bytes[this.#at];
      if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d && byte !== 0x0a) return;
      this.#at += 1;
    }
  }

  #value(depth: number): unknown {
    if (depth > MOST_DEPTH) this.#fail();
    this.#blanks();
    const byte = this.#bytes[this.#at];
    if (byte === QUOTE) return this.#string(this.#most);
    if (byte === 0x7b) return this.#object(depth);
    if (byte === 0x5b) return this.#array(depth);
    return this.#word();
  }

  #object(depth: number): Record<string, unknown> {
    const made: Record<string, unknown> = {};
    this.#at += 1;
    this.#blanks();
    if (this.#bytes[this.#at] === 0x7d) {
      this.#at += 1;
      return made;
    }
    for (;;) {
      this.#blanks();
      if (this.#bytes[this.#at] !== QUOTE) this.#fail();
      const key = this.#string(Math.max(this.#most, MOST_NAME));
      this.#blanks();
      if (this.#bytes[this.#at] !== 0x3a) this.#fail();
      this.#at += 1;
      const value = this.#value(depth + 1);
      if (key !== "__proto__") made[key] = value;
      else Object.defineProperty(made, key, { value, enumerable: true, writable: true, configurable: true });
      this.#blanks();
      const next = this.#bytes[this.#at];
      this.#at += 1;
      if (next === 0x7d) return made;
      if (next !== 0x2c) this.#fail();
    }
  }

  #array(depth: number): unknown[] {
    const made: unknown[] = [];
    this.#at += 1;
    this.#blanks();
    if (this.#bytes[this.#at] === 0x5d) {
      this.#at += 1;
      return made;
    }
    for (;;) {
      made.push(this.#value(depth + 1));
      this.#blanks();
      const next = this.#bytes[this.#at];
      this.#at += 1;
      if (next === 0x5d) return made;
      if (next !== 0x2c) this.#fail();
    }
  }

  /** `true`, `false`, `null` or a number. */
  #word(): unknown {
    const from = this.#at;
    for (;;) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined || byte <= 0x20 || byte === 0x2c || byte === 0x5d || byte === 0x7d) break;
      if (this.#at - from > 400) this.#fail();
      this.#at += 1;
    }
    const value: unknown = JSON.parse(this.#bytes.toString("latin1", from, this.#at));
    return value;
  }

  #string(most: number): string {
    const from = this.#at + 1;
    const end = this.#closingQuote(from);
    this.#at = end + 1;
    if (end - from <= most) return this.#decode(from, end) ?? this.#fail();
    // The cut may lie inside an escape or a character: step back until the head is whole.
    for (let cut = from + most; cut > from && cut > from + most - 16; cut -= 1) {
      const next = this.#bytes[cut];
      if (next !== undefined && (next & 0xc0) === 0x80) continue;
      const head = this.#decode(from, cut);
      if (head === null) continue;
      this.#cuts.set(head, end - from);
      return head;
    }
    this.#cuts.set("", end - from);
    return "";
  }

  #closingQuote(from: number): number {
    let end = from;
    for (;;) {
      end = this.#bytes.indexOf(QUOTE, end);
      if (end < 0) this.#fail();
      let before = end - 1;
      while (before >= from && this.#bytes[before] === BACKSLASH) before -= 1;
      if ((end - before) % 2 === 1) return end;
      end += 1;
    }
  }

  #decode(from: number, end: number): string | null {
    const slash = this.#bytes.subarray(from, end).indexOf(BACKSLASH);
    if (slash < 0) return this.#bytes.toString("utf8", from, end);
    try {
      const value: unknown = JSON.parse(`"${this.#bytes.toString("utf8", from, end)}"`);
      return typeof value === "string" ? value : null;
    } catch {
      return null;
    }
  }
}
