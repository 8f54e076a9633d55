import { describe, expect, it } from "vitest";
import type { CostBasis } from "../../../src/session/snapshot.ts";
import { age, ageOf, bytes, counted, duration, grouped, money, tokens } from "../../../src/ui/text/amounts.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe("amounts", () => {
  it.each([
    [-5000, "now"],
    [0, "now"],
    [59_999, "now"],
    [MINUTE, "1m"],
    [59 * MINUTE, "59m"],
    [60 * MINUTE, "1h"],
    [DAY - 1, "23h"],
    [4 * DAY, "4d"],
    [7 * DAY, "1w"],
    [34 * DAY, "4w"],
    [35 * DAY, "1mo"],
    [160 * DAY, "5mo"],
    [364 * DAY, "11mo"],
    [365 * DAY, "1y"],
    [800 * DAY, "2y"],
    [null, "–"],
    [Number.NaN, "–"],
  ])("an age of %j ms is %s", (ms, shown) => expect(age(ms)).toBe(shown));

  it("an age is counted from a time, and unknown without one", () => {
    const now = Date.parse("2026-03-01T12:00:00Z");
    expect(ageOf("2026-03-01T09:59:00.000Z", now)).toBe("2h");
    expect(ageOf("2026-03-02T09:59:00.000Z", now)).toBe("now");
    expect(ageOf(null, now)).toBe("–");
    expect(ageOf("soon", now)).toBe("–");
  });

  it.each([
    [400, "0.4s"],
    [9_960, "10s"],
    [184_000, "3m 4s"],
    [7_500_000, "2h 5m"],
    [null, "–"],
  ])("a duration of %j ms is %s", (ms, shown) => expect(duration(ms)).toBe(shown));

  it.each([
    [0, "0"],
    [950, "950"],
    [999.6, "1k"],
    [1000, "1k"],
    [1234, "1.2k"],
    [9_949, "9.9k"],
    [9_950, "10k"],
    [34_400, "34k"],
    [999_499, "999k"],
    [999_600, "1M"],
    [1_300_000, "1.3M"],
    [2_100_000_000, "2.1G"],
    [-1234, "-1.2k"],
    [null, "–"],
  ])("%j tokens are %s", (count, shown) => expect(tokens(count)).toBe(shown));

  it.each([
    [0, "0 B"],
    [950, "950 B"],
    [1234, "1.2 kB"],
    [1_200_000, "1.2 MB"],
    [3e12, "3 TB"],
    [null, "–"],
  ])("%j bytes are %s", (count, shown) => expect(bytes(count)).toBe(shown));

  it.each<[number | null, CostBasis | null, string]>([
    [null, null, "–"],
    [null, "partial", "–"],
    [0, null, "$0.00"],
    [0.0001, null, "<$0.001"],
    [0.0042, null, "$0.004"],
    [0.0095, null, "$0.01"],
    [0.417, "recorded", "$0.42"],
    [1.2, "partial", "≥$1.20"],
    [1.2, "estimated", "~$1.20"],
    [999.999, null, "$1,000"],
    [1234.5, null, "$1,235"],
  ])("%j dollars, %j, are %s", (cost, basis, shown) => expect(money(cost, basis)).toBe(shown));

  it("counts read like words", () => {
    expect(money(1, "partial", true)).toBe(">=$1.00");
    expect(grouped(1234567.5)).toBe("1,234,567.5");
    expect(counted(1, "line")).toBe("1 line");
    expect(counted(1200, "entry", "entries")).toBe("1,200 entries");
  });
});
