/** The time every status is reckoned from, ms since 1970. `FORKTAIL_NOW` (ISO 8601) fixes it for tests and screenshots. */
export function now(env: NodeJS.ProcessEnv = process.env): number {
  const fixed = env.FORKTAIL_NOW ? Date.parse(env.FORKTAIL_NOW) : Number.NaN;
  return Number.isNaN(fixed) ? Date.now() : fixed;
}
