/** Waits for a condition instead of sleeping. Fails with the last thing seen. */
export async function until<T>(
  look: () => T | Promise<T>,
  ok: (seen: T) => boolean = Boolean,
  mostMs = 5000,
): Promise<T> {
  const deadline = Date.now() + mostMs;
  for (;;) {
    const seen = await look();
    if (ok(seen)) return seen;
    if (Date.now() > deadline) throw new Error(`still not so after ${mostMs} ms; last seen: ${describe(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function describe(value: unknown): string {
  return typeof value === "string" ? `\n${value}` : JSON.stringify(value);
}
