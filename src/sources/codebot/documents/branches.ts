import type { Document, TreeItem } from "../../../session/document.ts";
import { cleanLine, cutCodePoints } from "../../../session/untrusted.ts";
import { leavesOf, pathTo } from "../chain-state.ts";
import type { EntryFacts } from "../facts.ts";
import type { SessionState } from "../fold.ts";
import { isoOf } from "../go-time.ts";
import { HEADER_ID } from "../ids.ts";
import { minute } from "./numbers.ts";

/**
 * The session as a tree: one item for every leaf and for every place where branches part. Opening an item reads the
 * path to its leaf; a promotion acts on the leaf.
 */
export function branchesDocument(state: SessionState): Document {
  const leaves = leavesOf(state.entries, state.index);
  const current = new Set(pathTo(state.entries, state.index, state.chain.leaf || HEADER_ID).path);
  const items = treeItems(state, leaves, current);
  const off = state.entries.filter((entry, at) => state.index[`$${entry.id}`] === at && !current.has(entry)).length;
  const broken = state.chain.broken;
  return {
    title: "branches",
    blocks: [
      {
        type: "fields",
        rows: [
          { label: "branches", value: String(leaves.length) },
          { label: "current leaf", value: cleanLine(state.chain.leaf) },
          { label: "on the current branch", value: `${current.size} entries` },
          { label: "elsewhere", value: `${off} entries` },
          ...(broken === null
            ? []
            : [
                {
                  label: "chain",
                  value: `broken at ${cleanLine(broken.at)}: shown in file order`,
                  tone: "bad" as const,
                },
              ]),
        ],
      },
      { type: "tree", items, empty: "Nothing but the header yet." },
    ],
  };
}

/** What happened between two places where branches part. */
interface Run {
  messages: number;
  /** The first thing a person said in it. */
  asked: EntryFacts | null;
  last: EntryFacts | null;
}

const EMPTY: Run = { messages: 0, asked: null, last: null };

function grown(run: Run, entry: EntryFacts): Run {
  const { message } = entry;
  if (message === undefined) return run;
  const asks = message.role === "user" && !message.injected && message.said !== "";
  return { messages: run.messages + 1, asked: run.asked ?? (asks ? entry : null), last: entry };
}

function treeItems(state: SessionState, leaves: readonly EntryFacts[], current: ReadonlySet<EntryFacts>): TreeItem[] {
  const children = childrenOf(state);
  const ends = new Set(leaves);
  const items: TreeItem[] = [];
  const seen = new Set<string>();
  const root = state.entries[state.index[`$${HEADER_ID}`] ?? 0];
  const stack = root === undefined ? [] : [{ entry: root, depth: 0, run: EMPTY }];
  // Without recursion: a chain may be as long as the file.
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { entry, depth } = next;
    if (seen.has(entry.id)) continue;
    seen.add(entry.id);
    const run = grown(next.run, entry);
    const below = children.get(entry.id) ?? [];
    const parts = below.length > 1;
    if (parts || ends.has(entry)) items.push(itemOf(state, entry, run, depth, current.has(entry), ends.has(entry)));
    for (const child of below.toReversed()) {
      stack.push({ entry: child, depth: parts ? depth + 1 : depth, run: parts ? EMPTY : run });
    }
  }
  for (const leaf of leaves) {
    if (!seen.has(leaf.id)) items.push(itemOf(state, leaf, grown(EMPTY, leaf), 0, current.has(leaf), true));
  }
  return items;
}

function childrenOf(state: SessionState): Map<string, EntryFacts[]> {
  const children = new Map<string, EntryFacts[]>();
  for (const [at, entry] of state.entries.entries()) {
    if (state.index[`$${entry.id}`] !== at || entry.id === HEADER_ID) continue;
    const siblings = children.get(entry.parent);
    if (siblings === undefined) children.set(entry.parent, [entry]);
    else siblings.push(entry);
  }
  return children;
}

function itemOf(
  state: SessionState,
  entry: EntryFacts,
  run: Run,
  depth: number,
  isCurrent: boolean,
  isLeaf: boolean,
): TreeItem {
  const said = (run.asked ?? run.last)?.message?.said ?? "";
  const place = !isLeaf ? "branches part here" : entry.id === state.chain.leaf ? "current" : "leaf";
  return {
    depth,
    label: cutCodePoints(cleanLine(said), 80) || cleanLine(entry.kind),
    note: `${cleanLine(entry.id)} · ${place} · ${run.messages} messages · ${minute(isoOf(entry.time))}`,
    tone: isCurrent ? "strong" : "faint",
    open: { view: "branch", of: entry.id, ...(run.asked === null ? {} : { ref: run.asked.id }) },
    ...(isLeaf ? { target: entry.id } : {}),
  };
}
