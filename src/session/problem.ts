/** Something that could not be read. Shown, never thrown (design §1). */
export interface Problem {
  source: string;
  path: string;
  /** Short, stable word a program can test: `unreadable`, `not-regular`, `bad-manifest`, `watch-limit` … */
  kind: string;
  /** What happened and what to do, one line, for a person. */
  message: string;
}
