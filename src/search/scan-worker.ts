import { parentPort } from "node:worker_threads";
import { runNow } from "../files/fold.ts";
import type { RawPatterns } from "./raw-patterns.ts";
import { FileScanner } from "./scan-file.ts";

/** What a worker is asked: which of these files may hold the patterns. The first request says what all are about. */
export interface ScanRequest {
  id: number;
  patterns: RawPatterns;
  files: string[];
}

export interface ScanAnswer {
  id: number;
  passing: string[];
  bytes: number;
}

let scanner: FileScanner | null = null;

parentPort?.on("message", ({ id, patterns, files }: ScanRequest) => {
  scanner ??= new FileScanner(patterns);
  const answer: ScanAnswer = { id, passing: [], bytes: 0 };
  for (const file of files) {
    const { passes, bytes } = runNow(scanner.scan(file));
    answer.bytes += bytes;
    if (passes) answer.passing.push(file);
  }
  parentPort?.postMessage(answer);
});
