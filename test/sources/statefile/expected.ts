import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyOfFixture, readFixture } from "../../support/fixtures.ts";

interface Cut {
  n: number;
  bytes: number;
  allowed: boolean;
  reason: string;
  copy_status: string | null;
}

/** One session of the oracle; offsets and lengths are bytes. */
interface ExpectedSession {
  label: string;
  file: string;
  bytes: number;
  is_session: boolean;
  records: number;
  good_bytes: number;
  dropped_bytes: number;
  tail: string;
  torn: boolean;
  corrupt: boolean;
  reference: { read: string; records: number | null; error: string };
  anomalies: string[];
  status: string | null;
  shape: string;
  waiting: { n: number; id: string }[];
  prompt_tokens: number;
  context_limit: number | null;
  context_fill: number | null;
  totals: { input: number; output: number; cache_read: number; cache_write: number };
  steps: number;
  config_model: string | null;
  last_model: string | null;
  last_provider: string | null;
  models: string[];
  workers: string[];
  created: string | null;
  updated: string | null;
  first_message: string | null;
  kinds: Record<string, number>;
  next_upto: number;
  bodies_sha256: string;
  prefix_sha256: string;
  build_len: number;
  build_sha256: string;
  build: number[];
  unclosed_blocks_len: number;
  unclosed_blocks: number[];
  step_table: { n: number; id: string; upto: number; results: number[]; others: number[]; blocks: number[] }[];
  tail_unseen: { results: number[]; others: number[] };
  record_table: {
    n: number;
    kind: string;
    id: string;
    offset: number;
    body_offset: number;
    end: number;
    len: number;
    body_sha256: string;
  }[];
  cuts: Cut[];
}

export interface Expected {
  order_newest_updated_first: string[];
  ignored: Record<string, string>;
  sessions: Record<string, ExpectedSession>;
}

export const expected = readFixture<Expected>("statefile", "EXPECTED.json");

/** A copy of the fixture directory with the entries that git cannot carry. */
export function sessionsDirectory(): string {
  const dir = copyOfFixture("statefile", "sessions");
  const outside = join(dir, "..", "outside.state");
  writeFileSync(outside, "not yours");
  symlinkSync(outside, join(dir, "5ca1ab1e.state"));
  for (const name of [" deadbee.state", "..x.state", "%2e%2e%2fx.state"]) {
    if (!existsSync(join(dir, name))) writeFileSync(join(dir, name), "");
  }
  return dir;
}
