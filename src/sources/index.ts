import type { Source } from "./source.ts";
import { statefileSource } from "./statefile/source.ts";

/** All sources, one line a tool. */
export const SOURCES: readonly Source[] = [statefileSource];
