import { useStdin } from "ink";
import { useEffect, useEffectEvent } from "react";

/** What the terminal tells by itself. Columns and rows are 0-based. */
export type TerminalReport =
  | { kind: "focus"; focused: boolean }
  | { kind: "wheel"; direction: 1 | -1 }
  | { kind: "click"; column: number; row: number };

const REPORT = /\u001b\[(?:(?<focus>[IO])|<(?<button>\d{1,5});(?<column>\d{1,5});(?<row>\d{1,5})(?<how>[Mm]))/gu;
/** A report whose end is not there yet. */
const UNFINISHED = /\u001b(?:\[(?:<[\d;]{0,18})?)?$/u;

/** The reports in what was read, and what of its end may be the beginning of one. */
export function terminalReports(text: string): { reports: TerminalReport[]; rest: string } {
  const reports: TerminalReport[] = [];
  for (const { groups } of text.matchAll(REPORT)) {
    if (groups?.focus !== undefined) reports.push({ kind: "focus", focused: groups.focus === "I" });
    else if (groups?.button === "64") reports.push({ kind: "wheel", direction: -1 });
    else if (groups?.button === "65") reports.push({ kind: "wheel", direction: 1 });
    else if (groups?.button === "0" && groups.how === "M")
      reports.push({ kind: "click", column: Number(groups.column) - 1, row: Number(groups.row) - 1 });
  }
  return { reports, rest: UNFINISHED.exec(text)?.[0] ?? "" };
}

/**
 * Hears what the terminal reports. Ink takes these sequences out of the input and tells nobody, and a second reader would
 * take the keys away from it, so what it reads is looked at as it passes.
 */
export function useTerminalReports(heard: (report: TerminalReport) => void): void {
  const { stdin } = useStdin();
  const tell = useEffectEvent(heard);
  useEffect(() => {
    const own = Object.getOwnPropertyDescriptor(stdin, "read");
    const read = stdin.read.bind(stdin);
    let rest = "";
    stdin.read = (size?: number) => {
      const chunk = read(size);
      if (typeof chunk === "string" || Buffer.isBuffer(chunk)) {
        const found = terminalReports(rest + String(chunk));
        rest = found.rest;
        for (const report of found.reports) tell(report);
      }
      return chunk;
    };
    return () => {
      if (own) Object.defineProperty(stdin, "read", own);
      else Reflect.deleteProperty(stdin, "read");
    };
  }, [stdin]);
}
