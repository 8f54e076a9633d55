import { describe, expect, it } from "vitest";
import { duration, stateTimeline } from "../../../src/sources/questmaster/documents.ts";

describe("the timeline of states", () => {
  it.each([
    [999, "0s"],
    [12_000, "12s"],
    [134_000, "2m14s"],
    [120_000, "2m"],
    [3_780_000, "1h3m"],
    [7_200_000, "2h"],
    [-5, "0s"],
  ])("writes %i ms as %s", (ms, text) => {
    expect(duration(ms)).toBe(text);
  });

  it("joins events of one state, passes over those that change none, and counts the last until now", () => {
    const at = (second: number) => `2026-07-20T12:00:${String(second).padStart(2, "0")}Z`;
    const event = (second: number, state?: string) => ({ ts: at(second), agent: "claude", action: "x", state });
    const events = [event(0, "starting"), event(5, "working"), event(7), event(9, "working"), event(20, "done")];
    const steps = stateTimeline(events, Date.parse(at(50)));
    expect(steps.map((step) => [step.from, step.state, step.for])).toEqual([
      [at(0), "starting", "5s"],
      [at(5), "working", "15s"],
      [at(20), "done", "30s"],
    ]);
  });
});
