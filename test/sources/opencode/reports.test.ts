import { describe, test } from "vitest";
import { opencodeSource } from "../../../src/sources/opencode/source.ts";
import { checkReport } from "../../support/agent-report.ts";

describe("what went wrong with OpenCode's stores elsewhere", () => {
  test.each(["31-opencode-wal", "37-opencode-json-orphans", "38-opencode-v2-tables"])("%s", async (name) => {
    await checkReport(opencodeSource, name, "home/.local/share/opencode");
  });
});
