import { join } from "node:path";
import { EXPORT_FORMATS, type ExportFormat, exportSession, exportToFile, timelineEntries } from "../../export/index.ts";
import type { Snapshot } from "../../session/snapshot.ts";
import type { Screen } from "../screen.ts";

const WORDS: Record<ExportFormat, string> = {
  md: "Markdown",
  html: "HTML, one file without scripts",
  json: "JSON, as show --json prints it",
};

/** Asks for a format, then for a file; one that is there is not overwritten. */
export function exportMenu(screen: Screen): void {
  const session = screen.session();
  if (!session) return;
  const items = EXPORT_FORMATS.map((format) => ({ label: WORDS[format], run: () => askFile(screen, session, format) }));
  screen.overlay({ type: "menu", title: "export as", items });
}

function askFile(screen: Screen, session: Snapshot, format: ExportFormat): void {
  const name = session.id.replace(/[^A-Za-z0-9._-]/gu, "-").slice(0, 60);
  screen.overlay({
    type: "ask",
    title: "write it to",
    label: "",
    verb: "write",
    initial: join(process.cwd(), `${session.source}-${name}.${format}`),
    done: (path) =>
      screen.attempt(async () => {
        const entries = timelineEntries(screen.context.live.reader(session.key), session.key);
        const chunks = exportSession(session, entries, format);
        const written = await exportToFile(chunks, path, { force: false, roots: screen.context.live.roots });
        screen.say(`exported: ${written.path}`, "good");
      }),
  });
}
