import fc from "fast-check";

/** A JSON value with parts of it replaced by anything else: a record as no program ever wrote it. */
function damaged(value: unknown): fc.Arbitrary<unknown> {
  const anything = fc.oneof(
    fc.constantFrom<unknown>(null, -1, 1e308, 0.5, "", "\u001b[31m", "../../etc/passwd", [], {}, true, "__proto__"),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const inside = (one: unknown): fc.Arbitrary<unknown> => {
    if (Array.isArray(one)) return fc.tuple(...one.map((item) => damaged(item)));
    if (typeof one !== "object" || one === null) return fc.constant(one);
    const fields = Object.entries(one).map(([key, item]) => fc.tuple(fc.constant(key), damaged(item)));
    return fc.tuple(...fields).map((pairs) => Object.fromEntries(pairs));
  };
  return fc.oneof({ weight: 12, arbitrary: inside(value) }, { weight: 1, arbitrary: anything });
}

/** The lines of a JSONL text, each maybe damaged, dropped, doubled or moved. */
export function damagedLines(text: string): fc.Arbitrary<string> {
  const lines = text.trimEnd().split("\n");
  const one = (line: string): fc.Arbitrary<string[]> => {
    const parsed: unknown = JSON.parse(line);
    return fc.oneof<fc.MaybeWeightedArbitrary<string[]>[]>(
      { weight: 6, arbitrary: fc.constant([line]) },
      { weight: 3, arbitrary: damaged(parsed).map((value) => [JSON.stringify(value)]) },
      { weight: 1, arbitrary: fc.constant([line, line]) },
      { weight: 1, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.nat(line.length).map((cut) => [line.slice(0, cut)]) },
    );
  };
  return fc.tuple(...lines.map(one)).map((made) => `${made.flat().join("\n")}\n`);
}
