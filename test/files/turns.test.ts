import { expect, test } from "vitest";
import { Turns } from "../../src/files/turns.ts";

function busy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test("many workers together let the event loop go on after each slice, and are served in the order of asking", async () => {
  const turns = new Turns(4);
  let loops = 0;
  let over = false;
  const count = (): void => {
    loops += 1;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  const done: number[] = [];
  await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      await turns.next();
      busy(1);
      done.push(n);
    }),
  );
  over = true;
  // 60 ms of work in slices of 4 and what one worker does beyond.
  expect(loops).toBeGreaterThanOrEqual(10);
  expect(done).toEqual(done.toSorted((a, b) => a - b));
});

test("while there is time left nobody waits for the event loop", async () => {
  const turns = new Turns(1000);
  await turns.next();
  let looped = false;
  setImmediate(() => {
    looped = true;
  });
  for (let n = 0; n < 100; n += 1) await turns.next();
  expect(looped).toBe(false);
});
