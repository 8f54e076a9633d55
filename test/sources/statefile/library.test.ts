import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  BadHeader,
  BadId,
  build,
  copy,
  decode,
  derive,
  encode,
  lastStep,
  NoSession,
  NoSuchRecord,
  newId,
  prompt,
  read,
  Sessions,
  StateFile,
  type StateRecord,
  TornRecord,
  validId,
  waiting,
} from "../../../src/sources/statefile/index.ts";
import { fixture } from "../../support/fixtures.ts";
import { temporaryDirectory } from "../../support/temp.ts";
import { expected, sessionsDirectory } from "./expected.ts";

const sha256 = (...parts: Uint8Array[]): string => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
};

/** The strict reading of as much of a file as can be read. */
function decodePrefix(bytes: Buffer): { records: StateRecord[]; ends: number[] } {
  const records: StateRecord[] = [];
  const ends: number[] = [];
  try {
    for (let next = decode(bytes, 0); next !== null; next = decode(bytes, next.end)) {
      records.push(next.record);
      ends.push(next.end);
    }
  } catch (error) {
    if (!(error instanceof TornRecord || error instanceof BadHeader)) throw error;
  }
  return { records, ends };
}

const sound = Object.entries(expected.sessions).filter(([, one]) => one.reference.read === "ok");

describe("a file that the tool reads", () => {
  test.each(sound)("%s agrees with the oracle in every derived value", (id, one) => {
    const path = fixture("statefile", "sessions", `${id}.state`);
    const bytes = readFileSync(path);
    const records = read(path);
    expect(records).toHaveLength(one.reference.records ?? -1);
    const built = build(records);
    const numbers = (list: { n: number }[]): number[] => list.map((record) => record.n);
    expect(built.nextUpto).toBe(one.next_upto);
    expect(numbers(built.records)).toEqual(one.build);
    expect(numbers(built.unclosed)).toEqual(one.unclosed_blocks);
    expect(built.records).toHaveLength(one.build_len);
    expect(sha256(Buffer.from(one.build_len === 0 ? "" : numbers(built.records).join(",")))).toBe(one.build_sha256);
    expect({ results: numbers(built.unseen.results), others: numbers(built.unseen.others) }).toEqual(one.tail_unseen);
    expect(
      built.steps.map((group) => ({
        n: group.step.n,
        id: group.step.id,
        upto: group.step.upto ?? 0,
        results: numbers(group.results),
        others: numbers(group.others),
        blocks: numbers(group.blocks),
      })),
    ).toEqual(one.step_table);
    if (one.is_session) expect(derive(records)).toBe(one.status);
    expect(waiting(records).map(({ n, id: call }) => ({ n, id: call }))).toEqual(one.waiting);
    expect(prompt(records)).toBe(one.prompt_tokens);
    expect(lastStep(records)?.model ?? null).toBe(one.last_model);
    expect(lastStep(records)?.provider ?? null).toBe(one.last_provider);
    expect(sha256(...records.map((record) => record.body))).toBe(one.bodies_sha256);
    expect(sha256(bytes.subarray(0, one.good_bytes))).toBe(one.prefix_sha256);
    const { ends } = decodePrefix(bytes);
    expect(
      records.map((record, at) => ({
        n: at + 1,
        kind: record.kind,
        id: record.id,
        offset: ends[at - 1] ?? 0,
        body_offset: (ends[at] ?? 0) - 1 - record.len,
        end: ends[at],
        len: record.len,
        body_sha256: sha256(record.body).slice(0, 16),
      })),
    ).toEqual(one.record_table);
  });

  test.each(sound)("%s keeps its bytes through decode and encode where the tool wrote it", (id, one) => {
    if (one.label.startsWith("odd") || one.label.startsWith("newer")) return;
    const bytes = readFileSync(fixture("statefile", "sessions", `${id}.state`));
    const { records } = decodePrefix(bytes);
    expect(Buffer.concat(records.map(encode)).equals(bytes.subarray(0, one.good_bytes))).toBe(true);
  });

  test.each(sound)("%s: every byte prefix decodes to the records that end within it", (id, one) => {
    if (one.bytes > 3000) return;
    const bytes = readFileSync(fixture("statefile", "sessions", `${id}.state`));
    const { ends } = decodePrefix(bytes);
    for (let length = 0; length <= bytes.length; length += 1) {
      const whole = ends.filter((end) => end <= length).length;
      expect(decodePrefix(bytes.subarray(0, length)).records).toHaveLength(whole);
    }
  });
});

describe("a file that the tool refuses", () => {
  test.each(Object.entries(expected.sessions).filter(([, one]) => one.reference.read === "error"))(
    "%s throws a typed error",
    (id) => {
      expect(() => read(fixture("statefile", "sessions", `${id}.state`))).toThrow(BadHeader);
    },
  );
});

test("bodies are bytes: any body, with any text in the header, survives a round trip", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 400 }),
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc.nat(),
      (body, text, count) => {
        const record: StateRecord = {
          n: 7,
          kind: "result",
          id: "5eed0001",
          time: "2026-09-28T20:01:03Z",
          len: body.length,
          type: "text/plain",
          ...(text === "" ? {} : { via: text }),
          exit: count % 256,
          body: Buffer.from(body),
        };
        const bytes = encode(record);
        expect(decode(bytes)).toEqual({ record, end: bytes.length });
        for (const cut of [1, bytes.length - 1]) {
          expect(() => decode(bytes.subarray(0, cut))).toThrow(TornRecord);
        }
      },
    ),
  );
});

describe("ids", () => {
  test("a new id is valid and random", () => {
    const ids = new Set(Array.from({ length: 200 }, newId));
    expect(ids.size).toBe(200);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}$/u);
  });

  test.each([
    ["deadbeef", true],
    ["ABCDEF01", true],
    ["deadbee", false],
    ["deadbeef0", false],
    ["deadbeeg", false],
    ["", false],
    ["../../et", false],
    ["deadbee\n", false],
    ["deadbeef\n", false],
    ["ｄｅａｄｂｅｅｆ", false],
  ])("%j is valid: %s", (id, valid) => expect(validId(id)).toBe(valid));
});

describe("writing", () => {
  const config = Buffer.from('{"model":"anthropic/x","tools":"default","workers":[],"context":1000}');

  test("a created file holds start and config, and appends fill in n, id, time and len", async () => {
    const path = join(temporaryDirectory(), "0badf00d.state");
    const file = await StateFile.create(path, config);
    await Promise.all([
      file.append({ kind: "message", type: "text/plain", via: "cli", body: Buffer.from("first") }),
      file.append({ kind: "message", type: "text/plain", via: "cli", body: Buffer.from("second") }),
    ]);
    expect(file.n).toBe(4);
    await file.close();
    const records = read(path);
    expect(records.map((record) => [record.n, record.kind, record.len])).toEqual([
      [1, "start", 0],
      [2, "config", config.length],
      [3, "message", 5],
      [4, "message", 6],
    ]);
    expect(records.every((record) => validId(record.id))).toBe(true);
    await expect(StateFile.create(path, config)).rejects.toMatchObject({ code: "EEXIST" });
  });

  test("open cuts a torn tail, and only that", async () => {
    const path = join(temporaryDirectory(), "0badf00d.state");
    const file = await StateFile.create(path, config);
    await file.close();
    const whole = readFileSync(path);
    writeFileSync(path, Buffer.concat([whole, Buffer.from('{"n":3,"kind":"mess')]));
    const again = await StateFile.open(path);
    expect(again.n).toBe(2);
    expect(readFileSync(path).equals(whole)).toBe(true);
    await again.append({ kind: "error", type: "text/plain", body: Buffer.from("no") });
    await again.close();
    expect(derive(read(path))).toBe("failed");
  });

  test("open refuses damage instead of cutting it", async () => {
    const dir = sessionsDirectory();
    const path = join(dir, "f1c069ea.state");
    const before = readFileSync(path);
    await expect(StateFile.open(path)).rejects.toThrow(BadHeader);
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});

describe("the directory", () => {
  test("lists what is a session by name and kind, and nothing else", async () => {
    const dir = sessionsDirectory();
    execFileSync("mkfifo", [join(dir, "f1f0f1f0.state")]);
    const listed = await new Sessions(dir).list();
    expect(listed.sort()).toEqual(Object.keys(expected.sessions).sort());
  });

  test("a directory that is not there has no sessions", async () => {
    expect(await new Sessions(join(temporaryDirectory(), "none")).list()).toEqual([]);
  });

  test.each(["", "../outside", "deadbee", "deadbeef0", "a/b"])("the id %j never becomes a path", (id) => {
    expect(() => new Sessions("/sessions").path(id)).toThrow(BadId);
  });

  test("a file without a whole record is no session", () => {
    const dir = sessionsDirectory();
    for (const id of ["6d4611ef", "e8321899"]) expect(() => new Sessions(dir).load(id)).toThrow(NoSession);
  });
});

describe("copy", () => {
  test.each(Object.entries(expected.sessions).filter(([, one]) => one.records > 0))(
    "%s: every cut has the oracle's bytes and status",
    async (id, one) => {
      const dir = sessionsDirectory();
      const from = join(dir, `${id}.state`);
      const bytes = readFileSync(from);
      const last = one.cuts.at(-1)?.n ?? 0;
      for (const cut of one.cuts) {
        const to = join(dir, "c0c0c0c0.state");
        if (cut.n < 3) {
          await expect(copy(from, to, cut.n)).rejects.toThrow(NoSuchRecord);
          expect(existsSync(to)).toBe(false);
          continue;
        }
        const target = join(dir, `${String(cut.n).padStart(8, "0")}.state`);
        await copy(from, target, cut.n);
        expect(readFileSync(target).equals(bytes.subarray(0, cut.bytes))).toBe(true);
        if (one.reference.read === "ok" || cut.n <= 6) expect(derive(read(target))).toBe(cut.copy_status);
      }
      await expect(copy(from, join(dir, "c0c0c0c0.state"), last + 1)).rejects.toThrow(NoSuchRecord);
      expect(readFileSync(from).equals(bytes)).toBe(true);
      expect(readdirSync(dir).filter((name) => name.endsWith(".tmp") && !name.startsWith(".0badf00d"))).toEqual([]);
    },
  );

  test("an existing destination is not touched", async () => {
    const dir = sessionsDirectory();
    const to = join(dir, "f63d8735.state");
    const before = readFileSync(to);
    await expect(copy(join(dir, "c5536e71.state"), to, 6)).rejects.toMatchObject({ name: "AlreadyExists" });
    expect(readFileSync(to).equals(before)).toBe(true);
  });

  test("a link is not followed, neither as source nor as destination", async () => {
    const dir = sessionsDirectory();
    symlinkSync(join(dir, "c5536e71.state"), join(dir, "11110000.state"));
    symlinkSync(join(dir, "nowhere"), join(dir, "22220000.state"));
    await expect(copy(join(dir, "11110000.state"), join(dir, "33330000.state"), 6)).rejects.toThrow(/link/u);
    await expect(copy(join(dir, "c5536e71.state"), join(dir, "22220000.state"), 6)).rejects.toMatchObject({
      name: "AlreadyExists",
    });
    expect(existsSync(join(dir, "nowhere"))).toBe(false);
  });
});
