import type { Entry } from "../../session/entry.ts";
import type { Page, PageRequest, Transcript } from "../../sources/source.ts";

export interface PageReaderOptions {
  open(): Promise<Transcript>;
  view: PageRequest["view"];
  of: string | null;
}

/** Entries of one page. */
export const PAGE = 200;
/** More of one text than this is only read when the entry is shown in full. */
const TEXT_LIMIT = 64 * 1024;

/** Reads pages of a transcript, which is opened when it is first needed, and again after a failure. */
export class PageReader {
  readonly #options: PageReaderOptions;
  #transcript: Promise<Transcript> | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;
  /** Why the last page could not be read, null when it could. */
  error: string | null = null;

  constructor(options: PageReaderOptions) {
    this.#options = options;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Runs what reads pages and takes them in, one after another: each begins where the last one ended. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  /** null when it cannot be read, which `error` then says, or nobody waits for it any more. */
  async page(at: PageRequest["at"], limit = PAGE): Promise<Page | null> {
    try {
      this.#transcript ??= this.#options.open();
      const transcript = await this.#transcript;
      const page = await transcript.page({ ...this.#request(at, limit), textLimit: TEXT_LIMIT });
      this.error = null;
      return this.#closed ? null : page;
    } catch (error) {
      if (this.#closed) return null;
      this.#transcript = null;
      this.error = `This cannot be read: ${error instanceof Error ? error.message : String(error)}`;
      return null;
    }
  }

  /** The entry with all of its text. Throws when it cannot be read. */
  async whole({ ref }: Entry): Promise<Entry | undefined> {
    const transcript = await this.#transcript;
    const page = await transcript?.page(this.#request({ ref }, 1));
    return page?.entries[0];
  }

  close(): void {
    this.#closed = true;
    void this.#transcript?.then(
      (transcript) => transcript.close(),
      () => undefined,
    );
  }

  #request(at: PageRequest["at"], limit: number): PageRequest {
    const { view, of } = this.#options;
    return { view, at, limit, ...(of === null ? {} : { of }) };
  }
}
