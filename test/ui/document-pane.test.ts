import { expect, test } from "vitest";
import type { Document } from "../../src/session/document.ts";
import { DocumentPane } from "../../src/ui/detail/document-pane.ts";
import { lineText } from "../../src/ui/text/line.ts";
import { until } from "../support/until.ts";

function documentOf(...texts: string[]): Document {
  return { title: "info", blocks: texts.map((text) => ({ type: "text", text })) };
}

const shown = (pane: DocumentPane): string[] => pane.lay(40, 10).map((line) => lineText(line).trimEnd());

test("what was read first and comes last does not replace what was read later", async () => {
  const reads: ((document: Document) => void)[] = [];
  const read = (): Promise<Document> => new Promise((resolve) => reads.push(resolve));
  const pane = new DocumentPane({ read, ascii: true, failed: () => undefined });
  pane.refresh();
  reads[1]?.(documentOf("newer"));
  await until(() => shown(pane).some((line) => line.includes("newer")));
  reads[0]?.(documentOf("older"));
  await Promise.resolve();
  expect(shown(pane).join("\n")).toContain("newer");
});

test("keys beyond the end of a document are not owed back", async () => {
  const pane = new DocumentPane({
    read: async () => documentOf("one", "two", "three"),
    ascii: true,
    failed: () => undefined,
  });
  await until(() => shown(pane).some((line) => line.includes("three")));
  const cursor = (): number => shown(pane).findIndex((line) => line.startsWith(">"));
  pane.edge("end");
  const last = cursor();
  for (let n = 0; n < 5; n += 1) pane.move(1);
  pane.move(-1);
  expect(cursor()).toBe(last - 1);
});
