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
import { parseScenario, type Scenario } from "./scenario.ts";

/** The sessions that come with the program. Imported rather than read, so that they are inside the bundle. */
export function demoSessions(): Scenario[] {
  return [
    flakyInvoiceTest,
    searchIndex,
    watchDeploy,
    darkModeJa,
    nightlyBackup,
    bumpGo,
    releaseNotes,
    rateLimits,
    rateLimitsRedis,
    ciCache,
  ].map(parseScenario);
}
