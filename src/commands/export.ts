import {
  CannotExport,
  type ExportFormat,
  exportSession,
  exportToFile,
  formatOfName,
  timelineEntries,
} from "../export/index.ts";
import { jsonText } from "../session/untrusted.ts";
import { openSession, print, type SharedOptions } from "./context.ts";

interface ExportOptions extends SharedOptions {
  format?: ExportFormat;
  output?: string;
  force?: boolean;
}

/** `forktail export KEY [--format md|html|json] [--output FILE [--force]]`. */
export async function exportCommand(options: ExportOptions, key: string): Promise<number> {
  const { place, snapshot, reader } = await openSession(options, key);
  const { output } = options;
  const named = output === undefined ? (options.json ? "json" : null) : formatOfName(output);
  const format = options.format ?? named ?? "md";
  const chunks = exportSession(snapshot, timelineEntries(reader, snapshot.key), format);
  if (output === undefined) await toStandardOutput(chunks);
  else {
    const written = await exportToFile(chunks, output, { force: options.force ?? false, roots: place.roots });
    const words = `Exported ${snapshot.key} as ${format} to ${written.path} (${written.bytes} bytes).`;
    await print(options.json ? jsonText({ schema: 1, export: { key: snapshot.key, format, ...written } }) : words);
  }
  await place.live.close();
  return 0;
}

/** Waits for whoever reads; ends quietly when they have seen enough. */
async function toStandardOutput(chunks: AsyncIterable<string>): Promise<void> {
  for await (const chunk of chunks) {
    const failed = await new Promise<Error | null>((taken) => {
      process.stdout.write(chunk, (error) => taken(error ?? null));
    });
    if (failed === null) continue;
    if ("code" in failed && failed.code === "EPIPE") return;
    throw new CannotExport(`standard output cannot be written: ${failed.message}`);
  }
}
