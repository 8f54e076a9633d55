import dropColumn from "../../assets/demo/claude/drop-column.json" with { type: "json" };
import uploadResume from "../../assets/demo/claude/upload-resume.json" with { type: "json" };
import dropJquery from "../../assets/demo/codebot/drop-jquery.json" with { type: "json" };
import tileCache from "../../assets/demo/codebot/tile-cache.json" with { type: "json" };
import dependencyAudit from "../../assets/demo/codex/dependency-audit.json" with { type: "json" };
import explainLocks from "../../assets/demo/codex/explain-locks.json" with { type: "json" };
import profileLoop from "../../assets/demo/codex/profile-loop.json" with { type: "json" };
import docsCrawl from "../../assets/demo/herrscher/docs-crawl.json" with { type: "json" };
import oldSpike from "../../assets/demo/herrscher/old-spike.json" with { type: "json" };
import triage from "../../assets/demo/herrscher/triage.json" with { type: "json" };
import nightlyBuild from "../../assets/demo/questmaster/nightly-build.json" with { type: "json" };
import storeListing from "../../assets/demo/questmaster/store-listing.json" with { type: "json" };
import bumpGo from "../../assets/demo/statefile/bump-go.json" with { type: "json" };
import ciCache from "../../assets/demo/statefile/ci-cache.json" with { type: "json" };
import darkModeJa from "../../assets/demo/statefile/dark-mode-ja.json" with { type: "json" };
import flakyInvoiceTest from "../../assets/demo/statefile/flaky-invoice-test.json" with { type: "json" };
import nightlyBackup from "../../assets/demo/statefile/nightly-backup.json" with { type: "json" };
import rateLimits from "../../assets/demo/statefile/rate-limits.json" with { type: "json" };
import rateLimitsRedis from "../../assets/demo/statefile/rate-limits-redis.json" with { type: "json" };
import releaseNotes from "../../assets/demo/statefile/release-notes.json" with { type: "json" };
import searchIndex from "../../assets/demo/statefile/search-index.json" with { type: "json" };
import watchDeploy from "../../assets/demo/statefile/watch-deploy.json" with { type: "json" };
import { SOURCES } from "../sources/index.ts";
import { parseScenario, type Scenario } from "./scenario.ts";

const DATA: readonly unknown[] = [
  bumpGo,
  ciCache,
  darkModeJa,
  flakyInvoiceTest,
  nightlyBackup,
  rateLimitsRedis,
  rateLimits,
  releaseNotes,
  searchIndex,
  watchDeploy,
  dropJquery,
  tileCache,
  docsCrawl,
  oldSpike,
  triage,
  nightlyBuild,
  storeListing,
  dropColumn,
  uploadResume,
  dependencyAudit,
  explainLocks,
  profileLoop,
];

/**
 * The sessions that come with the program, of the tools it can read. Imported rather than read, so that they are inside
 * the bundle.
 */
export function demoSessions(): Scenario[] {
  return DATA.map(parseScenario).filter((one) => SOURCES.some((source) => source.name === one.source));
}
