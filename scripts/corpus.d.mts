export interface CorpusOptions {
  /** Where the tools' directories are made. */
  dir: string;
  /** How many, over all sources. */
  sessions?: number;
  /** Of text in all of them together, about. */
  bytes?: number;
  sources?: string[];
  /** Instead of `bytes`: about this many records in every session. */
  records?: number;
  seed?: string;
  now?: Date;
}

/** Makes sessions: the same bytes for the same options. */
export function makeCorpus(options: CorpusOptions): Promise<{ roots: { source: string; path: string }[] }>;
