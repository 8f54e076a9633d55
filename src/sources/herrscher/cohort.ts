/** A session as far as lineage needs it. */
export interface Member {
  name: string;
  /** Name of the lead, "" when it has none. */
  parent: string;
}

/** Where a session stands among leads and delegates (herrscher.md §7). */
export interface Place {
  /** The lead at the top: climbing stops at a missing parent, a self-parent or a cycle. */
  root: string;
  /** Steps from that root. */
  depth: number;
  /** Direct delegates, in file order. */
  children: string[];
  /** The root and everything below it, in file order; a solo session is its own cohort. */
  cohort: string[];
  /** null: it names no parent. false: the one it names is gone. */
  parentExists: boolean | null;
  /** The parent to draw it under: null at the top, and where a cycle is cut. */
  drawnUnder: string | null;
}

/** The place of each session, by name. Of equal names the first counts, as in the program. */
export function places(members: readonly Member[]): Map<string, Place> {
  const parents = new Map<string, string>();
  for (const { name, parent } of members) if (!parents.has(name)) parents.set(name, parent);
  const children = new Map<string, string[]>();
  for (const [name, parent] of parents) {
    if (parent === "" || parent === name || !parents.has(parent)) continue;
    children.set(parent, [...(children.get(parent) ?? []), name]);
  }
  const cut = cutLinks(parents);
  const cohorts = new Map<string, string[]>();
  const found = new Map<string, Place>();
  for (const [name, parent] of parents) {
    const { root, depth } = climb(name, parents);
    const cohort = cohorts.get(root) ?? below(root, children, parents);
    cohorts.set(root, cohort);
    const known = parent !== "" && parents.has(parent);
    found.set(name, {
      root,
      depth,
      children: children.get(name) ?? [],
      cohort,
      parentExists: parent === "" ? null : known,
      drawnUnder: known && !cut.has(name) ? parent : null,
    });
  }
  return found;
}

function climb(from: string, parents: ReadonlyMap<string, string>): { root: string; depth: number } {
  const seen = new Set([from]);
  let root = from;
  for (;;) {
    const parent = parents.get(root) ?? "";
    if (parent === "" || !parents.has(parent) || seen.has(parent)) return { root, depth: seen.size - 1 };
    seen.add(parent);
    root = parent;
  }
}

function below(
  root: string,
  children: ReadonlyMap<string, readonly string[]>,
  parents: ReadonlyMap<string, string>,
): string[] {
  const reached = new Set([root]);
  for (const name of reached) for (const child of children.get(name) ?? []) reached.add(child);
  return [...parents.keys()].filter((name) => reached.has(name));
}

/** Of every cycle, the session that comes first in the file is drawn at the top. */
function cutLinks(parents: ReadonlyMap<string, string>): Set<string> {
  const cut = new Set<string>();
  for (const [name] of parents) {
    const seen = new Set<string>();
    let at = name;
    while (!seen.has(at)) {
      seen.add(at);
      const parent = parents.get(at) ?? "";
      if (parent === "" || !parents.has(parent) || cut.has(at)) break;
      at = parent;
    }
    const parent = parents.get(at) ?? "";
    if (at === name && seen.has(parent) && !cut.has(name)) cut.add(name);
  }
  return cut;
}
