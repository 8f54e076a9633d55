import type { SessionKey } from "../session/key.ts";
import type { Usage } from "../session/snapshot.ts";
import { enterOnce, type UsageSession } from "./ledger.ts";
import { type PriceBook, sumPriced } from "./prices.ts";
import type { ModelRequest } from "./request.ts";

/** A request behind a number. */
interface AuditedRequest extends ModelRequest {
  /** US dollars, recorded or from the price table; null: unpriced. */
  price: number | null;
}

export interface Audit {
  key: SessionKey;
  title: string;
  /** The requests that are counted for this session. */
  requests: AuditedRequest[];
  own: Usage;
  /** Requests that are in it too, but another session owns. */
  leftOut: { request: AuditedRequest; owner: SessionKey }[];
}

/** The requests behind one session's number, and the duplicates left out; null when there is no such session. */
export function auditOf(key: SessionKey, sessions: readonly UsageSession[], prices: PriceBook | null): Audit | null {
  const audited = sessions.find((session) => session.snapshot.key === key);
  if (audited === undefined) return null;
  const owners = new Map(enterOnce(sessions).entered.map((one) => [one.request.key, one.session.snapshot.key]));
  const requests: AuditedRequest[] = [];
  const leftOut: Audit["leftOut"] = [];
  for (const request of audited.requests) {
    const one = { ...request, price: request.cost ?? prices?.price(request) ?? null };
    const owner = owners.get(request.key) ?? key;
    if (owner === key) requests.push(one);
    else leftOut.push({ request: one, owner });
  }
  return { key, title: audited.snapshot.title, requests, own: sumPriced(requests, prices), leftOut };
}
