import { describe, test } from "vitest";
import { piSource } from "../../../src/sources/pi/source.ts";
import { checkReport } from "../../support/agent-report.ts";

describe("what went wrong with pi's files elsewhere", () => {
  test.each(["15-pi-fork-and-hidden-usage", "16-pi-artifacts-are-not-sessions"])("%s", async (name) => {
    await checkReport(piSource, name, "home/.pi/agent/sessions");
  });
});
