export { parseQuery } from "./query.ts";
export { type SearchHit, type SearchProgress, searchSessions } from "./search.ts";
