/**
 * Calls that wait for their results, in file order. A result answers the first one of its id (statefile.md §8). Adding and
 * answering cost the same however many wait, and in whatever order the results come.
 */
export class WaitingCalls<C extends { id: string }> {
  readonly #calls = new Map<number, C>();
  /** Places of the calls of an id; those in front of `first` are answered. */
  readonly #places = new Map<string, { all: number[]; first: number }>();
  #added = 0;

  constructor(calls: readonly C[] = []) {
    for (const call of calls) this.add(call);
  }

  get size(): number {
    return this.#calls.size;
  }

  add(call: C): void {
    const place = this.#added;
    this.#added += 1;
    this.#calls.set(place, call);
    const places = this.#places.get(call.id);
    if (places === undefined) this.#places.set(call.id, { all: [place], first: 0 });
    else places.all.push(place);
  }

  /** Takes out the first call of this id; without one nothing happens. */
  answer(id: string): void {
    const places = this.#places.get(id);
    const place = places?.all[places.first];
    if (places === undefined || place === undefined) return;
    places.first += 1;
    this.#calls.delete(place);
  }

  list(): C[] {
    return [...this.#calls.values()];
  }
}
