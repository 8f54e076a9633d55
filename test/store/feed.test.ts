import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NO_CHANGE } from "../../src/sources/source.ts";
import { feed } from "../../src/store/feed.ts";
import { newStore } from "../../src/store/store.ts";
import { sessionOf } from "../support/sessions.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function started({ scanning = true } = {}) {
  const store = newStore(0);
  store.setState({ scanning });
  const sink = feed(store);
  let commits = 0;
  store.subscribe(() => {
    commits += 1;
  });
  // Beyond the first gathering time, whatever the clock began with.
  vi.advanceTimersByTime(1000);
  return { store, sink, commits: () => commits };
}

test("a burst of changes is one commit; the first reaches the screen at once", () => {
  const { store, sink, commits } = started({ scanning: false });
  sink.commit("statefile", { ...NO_CHANGE, changed: [sessionOf("a", { messages: 0 })] });
  expect([commits(), store.getState().sessions.size]).toEqual([1, 1]);
  for (let n = 1; n <= 50; n += 1) {
    sink.commit("statefile", { ...NO_CHANGE, changed: [sessionOf("a", { messages: n }), sessionOf(`b${n}`)] });
  }
  expect(commits()).toBe(1);
  vi.advanceTimersByTime(150);
  expect(commits()).toBe(2);
  expect(store.getState().sessions.get("statefile:a")?.messages).toBe(50);
  expect(store.getState().sessions.size).toBe(51);
});

test("while everything is read for the first time, less often; the end of it at once", () => {
  const { store, sink, commits } = started();
  sink.commit("statefile", { ...NO_CHANGE, changed: [sessionOf("a")] });
  sink.commit("statefile", { ...NO_CHANGE, changed: [sessionOf("b")] });
  vi.advanceTimersByTime(400);
  expect(commits()).toBe(1);
  vi.advanceTimersByTime(150);
  expect(commits()).toBe(2);
  sink.commit("statefile", { ...NO_CHANGE, changed: [sessionOf("c")] });
  sink.scanned();
  expect(store.getState().sessions.size).toBe(3);
});

test("what a source says of its problems keeps no session waiting", () => {
  const { store, sink } = started();
  sink.commit("codex", { ...NO_CHANGE, problems: [] });
  sink.commit("statefile", { ...NO_CHANGE, changed: [sessionOf("a")] });
  expect(store.getState().sessions.size).toBe(1);
});

test("one session's change leaves every other session's object as it is", () => {
  const { store, sink } = started();
  const [a, b] = [sessionOf("a"), sessionOf("b")];
  sink.commit("statefile", { ...NO_CHANGE, changed: [a, b] });
  sink.commit("statefile", { ...NO_CHANGE, changed: [sessionOf("a", { messages: 1 })] });
  sink.flush();
  expect(store.getState().sessions.get(b.key)).toBe(b);
  expect(store.getState().sessions.get(a.key)).not.toBe(a);
});

test("a delta without a change is no commit", () => {
  const { sink, commits } = started();
  sink.commit("statefile", { ...NO_CHANGE, recheckAt: 5 });
  vi.advanceTimersByTime(1000);
  expect(commits()).toBe(0);
});

test("a change and a removal within one burst end as the last of them says", () => {
  const { store, sink } = started();
  const a = sessionOf("a");
  sink.commit("statefile", { ...NO_CHANGE, changed: [a] });
  sink.commit("statefile", { ...NO_CHANGE, removed: [a.key] });
  sink.commit("statefile", { ...NO_CHANGE, removed: ["statefile:b"] });
  sink.commit("statefile", { ...NO_CHANGE, changed: [sessionOf("b")] });
  sink.flush();
  expect([...store.getState().sessions.keys()]).toEqual(["statefile:b"]);
});

test("problems stand by source, and the end of the first reading is known", () => {
  const { store, sink } = started();
  const problem = { source: "statefile", path: "/x", kind: "empty", message: "nothing in it" };
  expect(store.getState().scanning).toBe(true);
  sink.commit("statefile", { ...NO_CHANGE, problems: [problem] });
  sink.commit("codebot", { ...NO_CHANGE, problems: [] });
  sink.scanned();
  expect(store.getState().scanning).toBe(false);
  expect(store.getState().problems.get("statefile")).toEqual([problem]);
  sink.commit("statefile", { ...NO_CHANGE, problems: [] });
  sink.flush();
  expect(store.getState().problems.get("statefile")).toEqual([]);
});
