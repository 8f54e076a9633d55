import type { Folded } from "../../files/fold.ts";
import { type OpenFile, openRegular } from "../../files/open.ts";
import { lineAt } from "../jsonl/line-windows.ts";
import {
  type Fields,
  field,
  fieldsOf,
  listField,
  objectField,
  type ParsedRecord,
  parseRecord,
  textField,
} from "../jsonl/record.ts";
import { type GeminiFile, type GeminiMessage, messageOf, type Spot } from "./file.ts";
import { MOST_OBJECT } from "./fold.ts";
import { isBlank } from "./message.ts";

/** Reads the records of one chat file, each line once. Close it: it holds the file open. */
export class ChatRecords implements Disposable {
  readonly #folded: Folded<GeminiFile>;
  readonly #file: OpenFile;
  readonly #mostString: number | undefined;
  readonly #lines = new Map<number, ParsedRecord | null>();

  constructor(folded: Folded<GeminiFile>, mostString?: number) {
    this.#folded = folded;
    this.#file = openRegular(folded.path);
    this.#mostString = mostString;
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  /**
   * The message as it is now: its last record, with the content, numbers and calls of earlier ones where that lacks
   * them (agents.md §5.2). null: the file was replaced meanwhile.
   */
  message(id: string): { message: GeminiMessage; record: ParsedRecord } | null {
    const message = messageOf(this.#folded.state, id);
    if (message === null) return null;
    const { at, contentAt, tokensAt, callsAt } = message;
    const kept = { content: contentAt, tokens: tokensAt, toolCalls: callsAt };
    const spots = [...Object.values(kept), at].filter((spot) => spot !== null);
    spots.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const fields: Fields = {};
    const cuts = new Map<string, number>();
    for (const spot of spots) {
      const found = this.#at(spot, id);
      if (found === null) return null;
      for (const [name, value] of Object.entries(found.fields)) {
        if (!isBlank(value) || !Object.hasOwn(fields, name)) fields[name] = value;
      }
      for (const [cut, bytes] of found.cuts) cuts.set(cut, bytes);
    }
    for (const [name, spot] of Object.entries(kept)) {
      if (spot !== null) fields[name] = field(this.#at(spot, id)?.fields ?? null, name);
    }
    const { type, model } = message;
    return { message, record: { fields: { ...fields, type, ...(model === null ? {} : { model }) }, cuts } };
  }

  #at([offset, index]: Spot, id: string): ParsedRecord | null {
    let line = this.#lines.get(offset);
    if (line === undefined) {
      line = this.#line(offset);
      this.#lines.set(offset, line);
    }
    if (line === null) return null;
    const list = objectField(line.fields, "$set") ?? line.fields;
    const fields = index < 0 ? line.fields : fieldsOf(listField(list, "messages")[index]);
    return fields === null || textField(fields, "id") !== id ? null : { fields, cuts: line.cuts };
  }

  #line(offset: number): ParsedRecord | null {
    if (!this.#folded.path.endsWith(".jsonl")) {
      if (this.#file.size > MOST_OBJECT) return null;
      return parseRecord(this.#file.read(0, this.#file.size), this.#mostString);
    }
    const line = lineAt(this.#file, offset, Math.min(this.#folded.offset, this.#file.size));
    return line === null ? null : parseRecord(line.bytes, this.#mostString);
  }
}
