import type { ModelPrice, PriceCalculation } from "@pydantic/genai-prices";
import type { Usage } from "../session/snapshot.ts";
import { addTokens, type ModelRequest, NO_TOKENS, promptTokens } from "./request.ts";

/** Prices and limits of models, offline (agents.md §7). */
export interface PriceBook {
  /** US dollars of one request at its own time, null when nobody knows the model: never 0. */
  price(request: ModelRequest): number | null;
  /** Tokens a model can be given, null when unknown. */
  contextWindow(provider: string | null, model: string, time: string | null): number | null;
}

type CalcPrice = typeof import("@pydantic/genai-prices").calcPrice;

let loading: Promise<PriceBook> | null = null;

/** The price table of `@pydantic/genai-prices`, loaded when first asked for: it is 0.8 MB of code. No network. */
export function loadPrices(): Promise<PriceBook> {
  loading ??= import("@pydantic/genai-prices").then(({ calcPrice }) => priceBook(calcPrice));
  return loading;
}

/** Rates of a model while they are plain numbers: then a request costs five multiplications, not a look-up. */
interface Rates {
  input: number | null;
  output: number | null;
  cacheRead: number | null;
  cacheWrite: number | null;
  cacheWrite1h: number | null;
  /** Above this many prompt tokens a dearer tier may hold; Infinity without tiers. */
  upTo: number;
}

const MILLION = 1_000_000;
/** A price may begin on a day (UTC), or hold for hours of it: then it stands within a quarter of an hour. */
const DAY_MS = 24 * 60 * 60 * 1000;
const SLICE_MS = 15 * 60 * 1000;

/** How long a price of this model stands; Infinity: always. A look-up costs as much as a hundred requests do. */
function standsFor({ prices }: PriceCalculation["model"]): number {
  if (!Array.isArray(prices)) return Number.POSITIVE_INFINITY;
  return prices.every(({ constraint }) => constraint === undefined || constraint.type === "start_date")
    ? DAY_MS
    : SLICE_MS;
}

/** What is known of one model. */
interface Priced {
  /** How long its prices stand, ms. */
  standsMs: number;
  /** By the number of the stretch of that length. null: nobody knows the model. */
  rates: Map<number, Rates | null>;
}

/** So many models, and stretches of one, are remembered. */
const MOST_KNOWN = 10_000;

function priceBook(calcPrice: CalcPrice): PriceBook {
  const models = new Map<string, Map<string, Priced>>();
  let size = 0;
  const windows = new Map<string, number | null>();
  const look = (provider: string | null, model: string, usage: Record<string, number>, at: Date | null) =>
    lookUp(calcPrice, provider, model, usage, at);
  const pricedOf = (provider: string, model: string): Priced => {
    const known = models.get(provider)?.get(model);
    if (known !== undefined) return known;
    if (size >= MOST_KNOWN) {
      models.clear();
      size = 0;
    }
    size += 1;
    const fresh: Priced = { standsMs: SLICE_MS, rates: new Map() };
    const ofProvider = models.get(provider);
    if (ofProvider === undefined) models.set(provider, new Map([[model, fresh]]));
    else ofProvider.set(model, fresh);
    return fresh;
  };
  return {
    price(request) {
      if (request.cost !== null) return request.cost;
      const { model, provider } = request;
      if (model === null) return null;
      const ms = request.time === null ? Number.NaN : Date.parse(request.time);
      const priced = pricedOf(provider ?? "", model);
      let rates = priced.rates.get(Math.floor(ms / priced.standsMs));
      if (rates === undefined) {
        const found = look(provider, model, { input_tokens: 1, output_tokens: 1 }, dateOf(ms));
        rates = found === null ? null : ratesOf(found.model_price);
        priced.standsMs = found === null ? Number.POSITIVE_INFINITY : standsFor(found.model);
        if (priced.rates.size >= MOST_KNOWN) priced.rates.clear();
        priced.rates.set(Math.floor(ms / priced.standsMs), rates);
      }
      if (rates === null) return null;
      return quick(rates, request) ?? look(provider, model, usageOf(request), dateOf(ms))?.total_price ?? null;
    },
    contextWindow(provider, model, time) {
      const name = `${provider ?? ""}|${model}`;
      const known = windows.get(name);
      if (known !== undefined) return known;
      const at = time === null ? null : new Date(time);
      // However a request is billed, the model is the same.
      const sample = { input_tokens: 1, output_tokens: 1 };
      const named = provider === null ? null : look(provider, model, sample, at);
      const found = (named ?? look(null, model, sample, at))?.model.context_window ?? null;
      if (windows.size > 10_000) windows.clear();
      windows.set(name, found);
      return found;
    },
  };
}

/** null for no time. */
function dateOf(ms: number): Date | null {
  return Number.isNaN(ms) ? null : new Date(ms);
}

/** A provider that the table does not know has prices of its own, or none: only where none is named does the model's maker count. */
function lookUp(
  calcPrice: CalcPrice,
  provider: string | null,
  model: string,
  usage: Record<string, number>,
  at: Date | null,
): PriceCalculation | null {
  const when = at === null ? {} : { timestamp: at };
  try {
    return calcPrice(usage, model, provider === null ? when : { providerId: provider, ...when });
  } catch {
    return null; // Numbers no request can have, or a provider the table does not know.
  }
}

function ratesOf(price: ModelPrice): Rates {
  let upTo = Number.POSITIVE_INFINITY;
  const rate = (key: string): number | null => {
    const value = price[key];
    if (value === undefined) return null;
    if (typeof value === "number") return value;
    for (const tier of value.tiers) upTo = Math.min(upTo, tier.start);
    return value.base;
  };
  return {
    input: rate("input_mtok"),
    output: rate("output_mtok"),
    cacheRead: rate("cache_read_mtok"),
    cacheWrite: rate("cache_write_mtok"),
    cacheWrite1h: rate("cache_write_1h_mtok"),
    upTo,
  };
}

/** null when a rate is missing or a tier may hold: then the table itself decides. */
function quick(rates: Rates, request: ModelRequest): number | null {
  if (promptTokens(request) >= rates.upTo) return null;
  const sum =
    part(request.input, rates.input) +
    part(request.output, rates.output) +
    part(request.cacheRead, rates.cacheRead) +
    part(request.cacheWrite - request.cacheWrite1h, rates.cacheWrite) +
    part(request.cacheWrite1h, rates.cacheWrite1h);
  return Number.isNaN(sum) ? null : sum;
}

/** NaN: not to be had from this rate. */
function part(tokens: number, rate: number | null): number {
  if (tokens === 0) return 0;
  return rate === null || tokens < 0 ? Number.NaN : (tokens * rate) / MILLION;
}

/** `input_tokens` is the whole prompt, caches included (agents.md §7). */
function usageOf(request: ModelRequest): Record<string, number> {
  return {
    input_tokens: promptTokens(request),
    cache_read_tokens: request.cacheRead,
    cache_write_tokens: request.cacheWrite,
    cache_write_1h_tokens: request.cacheWrite1h,
    output_tokens: request.output,
  };
}

/**
 * The sum over requests, each key once, every one priced by itself: tiers depend on one request's prompt.
 * `prices` null: only what the tools recorded. costBasis `partial`: some have no price, so the cost is a lower bound.
 */
export function sumPriced(requests: Iterable<ModelRequest>, prices: PriceBook | null): Usage {
  const byKey = new Map<string, ModelRequest>();
  for (const request of requests) byKey.set(request.key, request);
  let tokens = NO_TOKENS;
  let cost = 0;
  let priced = 0;
  let recorded = 0;
  for (const request of byKey.values()) {
    tokens = addTokens(tokens, request);
    const price = request.cost ?? prices?.price(request) ?? null;
    if (price === null) continue;
    cost += price;
    priced += 1;
    if (request.cost !== null) recorded += 1;
  }
  const { size } = byKey;
  if (size === 0 && prices !== null) return { requests: 0, ...tokens, cost: 0, costBasis: "estimated" };
  const basis = priced === 0 ? null : priced < size ? "partial" : recorded === size ? "recorded" : "estimated";
  return { requests: size, ...tokens, cost: priced === 0 ? null : cost, costBasis: basis };
}

/** The two sums of a snapshot: all its requests, and those that no other session owns. */
export function pricedUsage(requests: readonly ModelRequest[], prices: PriceBook | null): { usage: Usage; own: Usage } {
  const usage = sumPriced(requests, prices);
  const own = requests.filter((request) => request.copied !== true);
  return { usage, own: own.length === requests.length ? usage : sumPriced(own, prices) };
}
