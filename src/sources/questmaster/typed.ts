import { BadJson, elementsOf, membersOf, type RawJson } from "../../files/raw-json.ts";

/**
 * Typed fields as Go decodes them (questmaster.md §5): absent and `null` are the zero value, another type makes the
 * whole document unreadable (`BadJson`), because the original would not show it either.
 */
export class Fields {
  readonly #members: Map<string, RawJson>;
  readonly #taken = new Set<string>();

  constructor(text: string) {
    this.#members = membersOf(text);
  }

  has(key: string): boolean {
    return this.#members.has(key);
  }

  string(key: string): string {
    const value = this.#value(key);
    if (value === null) return "";
    return stringOf(value, key);
  }

  strings(key: string): string[] {
    const value = this.#value(key);
    if (value === null) return [];
    return arrayOf(value, key).map((one) => (one === "null" ? "" : stringOf(one, key)));
  }

  /** An int64, exactly. */
  integer(key: string): bigint {
    const value = this.#value(key);
    if (value === null) return 0n;
    if (!/^-?\d{1,19}$/u.test(value)) throw new BadJson(`${key} is not an integer`);
    const number = BigInt(value);
    if (BigInt.asIntN(64, number) !== number) throw new BadJson(`${key} does not fit in 64 bits`);
    return number;
  }

  /** An RFC 3339 time as text, so that no nanosecond is lost; empty when unset. */
  time(key: string): string {
    const value = this.#value(key);
    if (value === null) return "";
    const text = stringOf(value, key);
    if (!TIME.test(text)) throw new BadJson(`${key} is not a time`);
    return text;
  }

  objects(key: string): RawJson[] {
    const value = this.#value(key);
    return value === null ? [] : arrayOf(value, key);
  }

  object(key: string): Map<string, RawJson> {
    const value = this.#value(key);
    if (value === null) return new Map();
    if (value[0] !== "{") throw new BadJson(`${key} is not an object`);
    return membersOf(value);
  }

  /** What nobody asked for, in the file's order, as it stands there. */
  rest(): Map<string, RawJson> {
    return new Map([...this.#members].filter(([key]) => !this.#taken.has(key)));
  }

  #value(key: string): RawJson | null {
    this.#taken.add(key);
    const raw = this.#members.get(key);
    return raw === undefined || raw === "null" ? null : raw;
  }
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:\d{2})$/u;

function stringOf(raw: RawJson, key: string): string {
  if (raw[0] !== '"') throw new BadJson(`${key} is not a string`);
  return String(JSON.parse(raw));
}

function arrayOf(raw: RawJson, key: string): RawJson[] {
  const elements = elementsOf(raw);
  if (elements === null) throw new BadJson(`${key} is not an array`);
  return elements;
}
