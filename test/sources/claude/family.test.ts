import { describe, expect, test } from "vitest";
import { bytesOf, runNow } from "../../../src/files/fold.ts";
import { type Lineage, lineages, type Member } from "../../../src/sources/claude/family.ts";
import { claudeFold } from "../../../src/sources/claude/fold.ts";
import { sessionRequests } from "../../../src/sources/claude/requests.ts";
import { Conversation, type Row, uuid } from "./rows.ts";

function member(one: Conversation): Member {
  const file = claudeFold.initial();
  runNow(claudeFold.advance(file, bytesOf(Buffer.from(one.text())), 0));
  return { id: one.id, file, requests: () => sessionRequests(file, []) };
}

/** A copy of a conversation under another name, going on by itself. */
function copyOf(
  one: Conversation,
  name: string,
  change: (row: Row) => Row = (row) => row,
  at = "2026-11-11T09:00:00.000Z",
): Conversation {
  const made = new Conversation(name, at).rewindTo(one.leaf);
  for (const row of one.rows) made.raw(change({ ...row, sessionId: made.id }));
  return made;
}

function orders<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, i) => orders(items.filter((_, j) => j !== i)).map((rest) => [item, ...rest]));
}

/** The lineages, which must not depend on the order. */
function judged(...all: Conversation[]): Map<string, Lineage> {
  const [first, ...others] = orders(all.map(member)).map(lineages);
  for (const other of others) for (const [id, line] of other) expect(line).toEqual(first?.get(id));
  return first ?? new Map();
}

const base = () => new Conversation("base").prompt("p").reply("a").prompt("q").reply("b");

describe("a copied conversation", () => {
  test("that says where it is from is a fork of that, which owns what was copied", () => {
    const original = base();
    const branch = copyOf(original, "branch", (row) => ({
      ...row,
      forkedFrom: { sessionId: original.id, messageUuid: row.uuid },
    }));
    branch.prompt("own").reply("own reply");
    const lines = judged(original, branch);
    expect(lines.get(branch.id)).toMatchObject({ forkOf: original.id, forkPoint: uuid("b"), depth: 1 });
    expect([...(lines.get(branch.id)?.copied ?? [])]).toEqual(["msg_a", "msg_b"]);
    expect(lines.get(original.id)).toMatchObject({ forkOf: null, copied: new Set() });
  });

  test("whose rows still name the other session is a fork of that", () => {
    const original = base();
    const made = new Conversation("unwritten", "2026-11-11T09:00:00.000Z").rewindTo(original.leaf);
    for (const row of original.rows) made.raw(row);
    made.prompt("own").reply("own reply");
    original.prompt("later").reply("later reply");
    expect(judged(original, made).get(made.id)).toMatchObject({ forkOf: original.id, forkPoint: uuid("b") });
  });

  test("that says nothing is a fork of the one it holds whole", () => {
    const original = base();
    const fork = copyOf(original, "fork").prompt("own").reply("own reply");
    const lines = judged(original, fork);
    expect(lines.get(fork.id)).toMatchObject({ forkOf: original.id, forkPoint: uuid("b") });
    expect(lines.get(fork.id)?.copied.size).toBe(2);
  });

  test("that says nothing is, when both went on, the one that did so later", () => {
    const original = base();
    const fork = copyOf(original, "fork").prompt("own").reply("own reply");
    original.prompt("meanwhile").reply("meanwhile reply");
    expect(judged(original, fork).get(fork.id)?.forkOf).toBe(original.id);
  });

  test("of a copy is a fork of the copy, and the first owns the first part", () => {
    const first = base();
    const second = copyOf(first, "second").prompt("s").reply("sr");
    const third = copyOf(second, "third").prompt("t").reply("tr");
    const lines = judged(first, second, third);
    expect(lines.get(third.id)).toMatchObject({ forkOf: second.id, depth: 2 });
    expect([...(lines.get(third.id)?.copied ?? [])].sort()).toEqual(["msg_a", "msg_b", "msg_sr"]);
    expect([...(lines.get(second.id)?.copied ?? [])].sort()).toEqual(["msg_a", "msg_b"]);
  });

  test("whose original is gone is owned by the first that went on", () => {
    const gone = base();
    const from = (row: Row): Row => ({ ...row, forkedFrom: { sessionId: gone.id, messageUuid: row.uuid } });
    const early = copyOf(gone, "early", from).prompt("e").reply("er");
    const late = copyOf(gone, "late", from, "2026-11-12T09:00:00.000Z").prompt("l").reply("lr");
    const lines = judged(late, early);
    expect(lines.get(early.id)).toMatchObject({ forkOf: gone.id, copied: new Set() });
    expect(lines.get(late.id)?.copied.size).toBe(2);
  });

  test("is none where only the other session's id stands, and nothing of it", () => {
    const one = new Conversation("one").prompt("p1").reply("a1");
    const other = new Conversation("other").prompt("p2").reply("a2");
    for (const row of one.rows) row.sessionId = other.id;
    for (const row of other.rows) row.sessionId = one.id;
    for (const line of judged(one, other).values()) expect(line).toMatchObject({ forkOf: null, copied: new Set() });
  });

  test("with fresh uuids but the same messages is still counted once", () => {
    const original = base();
    const fork = copyOf(original, "sdk", (row) => ({
      ...row,
      uuid: uuid(`fresh ${String(row.uuid)}`),
      parentUuid: row.parentUuid === null ? null : uuid(`fresh ${String(row.parentUuid)}`),
      forkedFrom: { sessionId: original.id, messageUuid: row.uuid },
    }));
    expect(judged(original, fork).get(fork.id)?.copied.size).toBe(2);
  });

  test("chains of 50 forks keep one owner a request", () => {
    const chain = [base()];
    for (let i = 0; i < 50; i += 1) {
      const last = chain.at(-1) ?? base();
      chain.push(copyOf(last, `fork ${i}`).prompt(`p${i}`).reply(`r${i}`));
    }
    const members = chain.map(member);
    const lines = lineages(members);
    const own = members.map(
      (one) => one.requests().filter((owned) => !lines.get(one.id)?.copied.has(owned.request.id)).length,
    );
    expect(own.reduce((a, b) => a + b, 0)).toBe(52);
    expect(lines.get(chain.at(-1)?.id ?? "")?.depth).toBe(50);
  });
});
