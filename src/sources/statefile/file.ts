import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { CannotOpen, openRegular } from "../../files/open.ts";
import { newId } from "./ids.ts";
import { decode, encode, type Header, type StateRecord, TornRecord } from "./record.ts";

/** What a caller gives for a new record: `n`, `time` and `len` are filled in, `id` too unless it is given. */
export type NewRecord = Partial<Omit<Header, "n" | "time" | "len">> & Pick<Header, "kind"> & { body?: Buffer };

/**
 * A state file open for appending. One writer per file: there is no lock in the format, so this is for tools that own
 * their sessions (and for the demo). forktail itself never appends to anybody's file.
 */
export class StateFile {
  readonly path: string;
  readonly #file: FileHandle;
  #n: number;
  #turn: Promise<void> = Promise.resolve();

  private constructor(path: string, file: FileHandle, n: number) {
    this.path = path;
    this.#file = file;
    this.#n = n;
  }

  /** Makes a new file whose first two records are start and config. Throws EEXIST when the path is taken. */
  static async create(path: string, config: Buffer): Promise<StateFile> {
    const file = await open(path, "wx", 0o644);
    const made = new StateFile(path, file, 0);
    try {
      await made.append({ kind: "start" });
      await made.append({ kind: "config", type: "application/json", body: config });
    } catch (error) {
      await file.close();
      throw error;
    }
    return made;
  }

  /**
   * Opens an existing file for appending. A torn final record is cut off; throws `BadHeader` on damage, `CannotOpen` for
   * what is no regular file.
   */
  static async open(path: string): Promise<StateFile> {
    // A FIFO with a session's name would hang a blocking open for ever.
    const file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (!(await file.stat()).isFile()) throw new CannotOpen("not-regular", path, "not a regular file: left alone");
      const bytes = await file.readFile();
      const { records, good } = decodeAll(bytes);
      if (good < bytes.length) await file.truncate(good);
      return new StateFile(path, file, records.length);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Index of the last record written. */
  get n(): number {
    return this.#n;
  }

  /** Writes one record with one write at the end of the file, in the order of the calls. Returns it as written. */
  append(record: NewRecord): Promise<StateRecord> {
    const done = this.#turn.then(() => this.#append(record));
    this.#turn = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  async #append({ body = Buffer.alloc(0), id, ...header }: NewRecord): Promise<StateRecord> {
    const time = new Date().toISOString().replace(/\.?0+Z$/u, "Z");
    const whole: StateRecord = { ...header, n: this.#n + 1, id: id ?? newId(), time, len: body.length, body };
    const bytes = encode(whole);
    const { size } = await this.#file.stat();
    const { bytesWritten } = await this.#file.write(bytes, 0, bytes.length, size);
    if (bytesWritten !== bytes.length) {
      await this.#file.truncate(size);
      throw new Error(`${this.path}: only ${bytesWritten} of ${bytes.length} bytes could be written; taken back`);
    }
    this.#n += 1;
    return whole;
  }

  close(): Promise<void> {
    return this.#turn.then(() => this.#file.close());
  }
}

function decodeAll(bytes: Buffer): { records: StateRecord[]; good: number } {
  const records: StateRecord[] = [];
  let good = 0;
  for (;;) {
    try {
      const next = decode(bytes, good);
      if (next === null) break;
      records.push(next.record);
      good = next.end;
    } catch (error) {
      if (error instanceof TornRecord) break;
      throw error;
    }
  }
  return { records, good };
}

/** Every whole record of a file, as strictly as the tool: a torn final record is dropped, damage throws `BadHeader`. */
export function read(path: string): StateRecord[] {
  using file = openRegular(path);
  return decodeAll(file.read(0, file.size)).records;
}
