import { appendFile, mkdir, utimes } from "node:fs/promises";
import { dirname } from "node:path";

/** Lines that are taken in one by one and appended together. */
export class LinesFile {
  readonly path: string;
  #pending = "";

  constructor(path: string) {
    this.path = path;
  }

  /** `line` ends with its LF. */
  add(line: string): void {
    this.#pending += line;
  }

  addJson(row: Record<string, unknown>): void {
    this.add(`${JSON.stringify(row)}\n`);
  }

  /** Appends what was taken in. `backdate` sets the file's times. */
  async flush(backdate: Date | null): Promise<void> {
    if (this.#pending === "") return;
    const lines = this.#pending;
    this.#pending = "";
    await mkdir(dirname(this.path), { recursive: true });
    await appendFile(this.path, lines);
    if (backdate !== null) await utimes(this.path, backdate, backdate);
  }
}
