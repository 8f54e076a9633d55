export interface AgentsCorpusOptions {
  /** Becomes a home directory with `.claude` and `.codex`. */
  dir: string;
  /** Of both tools together; sub-agents are not counted. */
  sessions?: number;
  /** In all of them together, about. */
  bytes?: number;
  sources?: readonly ("claude" | "codex")[];
  seed?: string;
  now?: Date;
}

export interface AgentsCorpus {
  roots: { source: string; path: string }[];
  /** How many sessions a list shows. */
  listed: number;
  bytes: number;
  largest: { source: string; path: string; bytes: number };
}

/** Makes sessions of Claude Code and Codex: the same bytes for the same options. */
export function makeAgentsCorpus(options: AgentsCorpusOptions): AgentsCorpus;
