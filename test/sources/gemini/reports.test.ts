import { describe, test } from "vitest";
import { geminiSource } from "../../../src/sources/gemini/source.ts";
import { checkReport } from "../../support/agent-report.ts";

describe("what went wrong with Gemini's chats elsewhere", () => {
  test.each(["18-gemini-cached-is-part-of-input"])("%s", async (name) => {
    await checkReport(geminiSource, name, "home/.gemini/tmp");
  });
});
