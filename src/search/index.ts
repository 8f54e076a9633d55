export { parseQuery, type Query } from "./query.ts";
export { type SearchHit, type SearchProgress, type SearchRequest, searchSessions } from "./search.ts";
