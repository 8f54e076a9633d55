import { expect, test } from "vitest";
import { terminalReports } from "../../src/ui/terminal-reports.ts";

test.each<[string, string, ReturnType<typeof terminalReports>]>([
  ["focus", "\x1b[I", { reports: [{ kind: "focus", focused: true }], rest: "" }],
  ["focus lost amid keys", "jj\x1b[Ok", { reports: [{ kind: "focus", focused: false }], rest: "" }],
  [
    "the wheel",
    "\x1b[<64;3;4M\x1b[<65;3;4M",
    { reports: [-1, 1].map((direction) => ({ kind: "wheel", direction: direction === 1 ? 1 : -1 })), rest: "" },
  ],
  [
    "a click, not its release",
    "\x1b[<0;3;4M\x1b[<0;3;4m",
    { reports: [{ kind: "click", column: 2, row: 3 }], rest: "" },
  ],
  ["other buttons are nothing", "\x1b[<2;3;4M", { reports: [], rest: "" }],
  ["the beginning of one is kept", "j\x1b[<0;3", { reports: [], rest: "\x1b[<0;3" }],
  ["letters without an escape are letters", "[I[O", { reports: [], rest: "" }],
])("%s", (_what, text, found) => {
  expect(terminalReports(text)).toEqual(found);
});
