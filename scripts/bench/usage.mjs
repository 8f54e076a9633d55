// `forktail usage` beside ccusage on the same files in the same run.
import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { homeOf } from "./corpora.mjs";
import { median, timed } from "./numbers.mjs";

const VERSION = "20.0.24";

/** Fetches ccusage into a directory of its own, never into this package. null where it cannot be had. */
export function fetchCcusage(dir) {
  try {
    const argv = [
      "install",
      "--prefix",
      dir,
      "--no-save",
      "--no-audit",
      "--no-fund",
      "--ignore-scripts",
      `ccusage@${VERSION}`,
    ];
    execFileSync("npm", argv, { stdio: "ignore", timeout: 120_000 });
    const program = join(dir, "node_modules/.bin/ccusage");
    return existsSync(program) ? program : null;
  } catch {
    return null;
  }
}

/** ms, medians. `ccusage` null: it could not be run. */
export function measureUsage({ program, ccusage, dir, work, runs }) {
  const env = { ...homeOf(dir), LANG: "C.UTF-8", FORKTAIL_STATE_DIR: join(work, "usage-state") };
  const forktail = () => {
    const path = { ...env, PATH: "/usr/bin:/bin" };
    execFileSync(process.execPath, [program, "usage", "--by", "day", "--json"], { env: path, stdio: "ignore" });
  };
  const rival = () => {
    const path = { ...env, PATH: process.env.PATH };
    execFileSync(ccusage, ["daily", "--offline", "--json"], { env: path, stdio: "ignore" });
  };
  const took = { cold: [], warm: [], ccusage: [] };
  for (let run = 0; run < runs; run += 1) {
    rmSync(env.FORKTAIL_STATE_DIR, { recursive: true, force: true });
    took.cold.push(timed(forktail));
    took.warm.push(timed(forktail));
    if (ccusage === null) continue;
    try {
      took.ccusage.push(timed(rival));
    } catch {
      // Said in the table.
    }
  }
  rmSync(env.FORKTAIL_STATE_DIR, { recursive: true, force: true });
  const rivalMs = took.ccusage.length === runs ? median(took.ccusage) : null;
  return { coldMs: median(took.cold), warmMs: median(took.warm), ccusageMs: rivalMs };
}
