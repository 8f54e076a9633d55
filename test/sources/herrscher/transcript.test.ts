import { appendFileSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bytesOf, runNow } from "../../../src/files/fold.ts";
import { fileWork } from "../../../src/files/open.ts";
import {
  appendParticipant,
  appendTranscript,
  blankTranscriptEntry,
  formatTranscriptLine,
  participantsPath,
  readParticipants,
  readTranscript,
  readTranscriptLast,
  removeParticipantJournal,
  removeTranscript,
  TRANSCRIPT_KEPT_BYTES,
  TRANSCRIPT_MOST_BYTES,
  tornTail,
  transcriptFold,
  transcriptPath,
  transcriptSums,
} from "../../../src/sources/herrscher/index.ts";
import { fixture } from "../../support/fixtures.ts";
import { temporaryDirectory } from "../../support/temp.ts";

const NO_LOCKS = { env: { TMPDIR: "/nowhere" }, locks: async () => [] };
const entry = blankTranscriptEntry;

function fileOf(content: string): string {
  const path = join(temporaryDirectory(), "t.jsonl");
  writeFileSync(path, content);
  return path;
}

describe("which lines count", () => {
  it.each([
    ["an entry", '{"ts":"t","role":"user","text":"x"}', 1],
    ["null", "null", 1],
    ["an empty object", "{}", 1],
    ["CRLF", '{"ts":"t"}\r', 1],
    ["spaces around", '  {"ts":"t"}\t', 1],
    ["an unknown key", '{"future":{"a":[1,2]}}', 1],
    ["null in a field", '{"cost":null,"text":null}', 1],
    ["a separator in a string", '{"text":"a\u2028b"}', 1],
    ["a key in other case", '{"TEXT":"x"}', 1],
    ["a text that mentions a number", String.raw`{"text":"\"tokens_in\":1.0"}`, 1],
    ["a long run of spaces in a text", `{"text":"a${" ".repeat(200_000)}b"}`, 1],
    ["white space of every kind around", "\u00a0\u3000{}\u2028\u0085", 1],
    ["a zero width space around", "\u200b{}", 0],
    ["a blank line", "", 0],
    ["only white space", " \t ", 0],
    ["garbage", "-- not json --", 0],
    ["NUL bytes", "\0\0\0", 0],
    ["an array", "[]", 0],
    ["a number", "7", 0],
    ["a byte order mark", '\ufeff{"ts":"t"}', 0],
    ["a cost as text", '{"cost":"0.5"}', 0],
    ["a cost beyond all numbers", '{"cost":1e400}', 0],
    ["a fraction of a token", '{"tokens_in":1.5}', 0],
    ["an integer written as a fraction", '{"tokens_in":1.0}', 0],
    ["an integer written with an exponent", '{"dur_ms":1e3}', 0],
    ["the largest integer of 64 bits", '{"tokens_in":9223372036854775807}', 1],
    ["the smallest integer of 64 bits", '{"tokens_in":-9223372036854775808}', 1],
    ["an integer of 16 digits", '{"tokens_in":9007199254740993}', 1],
    ["one more than the largest", '{"tokens_in":9223372036854775808}', 0],
    ["one less than the smallest", '{"tokens_in":-9223372036854775809}', 0],
    ["an integer beyond 64 bits", '{"tokens_out":99999999999999999999}', 0],
    ["a text that is a number", '{"text":1}', 0],
    ["glued lines", '{"ts":"a"}{"ts":"b"}', 0],
  ])("%s", (_name, line, count) => {
    const path = fileOf(`${line}\n{"ts":"end"}\n`);
    expect(readTranscript(path)).toHaveLength(count + 1);
    const state = transcriptFold.initial();
    runNow(transcriptFold.advance(state, bytesOf(readFileSync(path)), 0));
    expect(transcriptSums(state).entries).toBe(count + 1);
    expect(transcriptSums(state).droppedLines).toBe(count === 1 || line.trim() === "" ? 0 : 1);
  });

  it("a tail without an end counts once it parses, and is never kept", () => {
    const state = transcriptFold.initial();
    const whole = '{"ts":"1","role":"user","text":"a"}\n';
    const torn = Buffer.from(`${whole}{"ts":"2","role":"assi`);
    const offset = runNow(transcriptFold.advance(state, bytesOf(torn), 0));
    expect(offset).toBe(whole.length);
    expect(transcriptSums(state).entries).toBe(1);
    expect(tornTail(state)).toEqual({ bytes: 22, line: 2 });
    const parses = Buffer.from(`${whole}{"ts":"2","role":"assistant","cost":0.5}`);
    runNow(transcriptFold.advance(state, bytesOf(parses), offset));
    expect(transcriptSums(state)).toMatchObject({ entries: 2, turns: 1, cost: 0.5, lastAt: "2" });
    expect(tornTail(state)).toBeNull();
    const ended = Buffer.concat([parses, Buffer.from("\n")]);
    runNow(transcriptFold.advance(state, bytesOf(ended), offset));
    expect(transcriptSums(state)).toMatchObject({ entries: 2, turns: 1, cost: 0.5, lastAt: "2" });
  });

  it("folding in any pieces gives what folding at once gives", () => {
    const bytes = readFileSync(fixture("herrscher", "main", "transcripts", "garbage-mid.jsonl"));
    const once = transcriptFold.initial();
    runNow(transcriptFold.advance(once, bytesOf(bytes), 0));
    for (let step = 1; step < 200; step += 13) {
      const state = transcriptFold.initial();
      let offset = 0;
      for (let size = step; size < bytes.length + step; size += step) {
        offset = runNow(transcriptFold.advance(state, bytesOf(bytes.subarray(0, size)), offset));
      }
      expect(state).toEqual(once);
    }
  });
});

describe("writing", () => {
  it("writes the line the program writes", () => {
    const odd = entry({
      ts: "t",
      role: "assistant",
      text: '<a> & "b"\\\n\t\u2028\u0001\ud800 é',
      cost: 1e-7,
      tokensIn: 3,
      durMs: 9,
    });
    expect(formatTranscriptLine(odd)).toBe(
      '{"ts":"t","role":"assistant","text":"\\u003ca\\u003e \\u0026 \\"b\\"\\\\\\n\\t\\u2028\\u0001\\ufffd é","cost":1e-7,"tokens_in":3,"dur_ms":9}\n',
    );
    expect(formatTranscriptLine(entry())).toBe('{"ts":"","role":"","text":""}\n');
  });

  it.each(["main", "switched", "unicode-notes", "nightly-migration"])(
    "%s: entries written again are the same bytes",
    (name) => {
      const path = transcriptPath(fixture("herrscher", "main"), name);
      const lines = readTranscript(path).map((one) => formatTranscriptLine(one));
      const original = readFileSync(path, "utf8");
      // The program escapes what was invalid UTF-8; read back, it is a replacement character like any other.
      expect(lines.join("")).toBe(original.replaceAll("\\ufffd", "\ufffd"));
    },
  );

  it("a file above 4 MiB shrinks to the newest entries that fit into 2 MiB", async () => {
    const path = transcriptPath(temporaryDirectory(), "a");
    await appendTranscript(path, entry({ ts: "0" }), NO_LOCKS);
    const one = entry({ role: "user", text: "x".repeat(1000) });
    const line = formatTranscriptLine({ ...one, ts: "1" });
    appendFileSync(path, line.repeat(Math.floor((TRANSCRIPT_MOST_BYTES - statSync(path).size) / line.length) - 2));
    appendFileSync(path, " ".repeat(TRANSCRIPT_MOST_BYTES - statSync(path).size - line.length - 1));
    appendFileSync(path, "\n");
    await appendTranscript(path, { ...one, ts: "2" }, NO_LOCKS);
    expect(statSync(path).size).toBe(TRANSCRIPT_MOST_BYTES);
    await appendTranscript(path, { ...one, ts: "3" }, NO_LOCKS);
    const { size } = statSync(path);
    expect(size).toBeLessThanOrEqual(TRANSCRIPT_KEPT_BYTES);
    expect(size).toBeGreaterThan(TRANSCRIPT_KEPT_BYTES - line.length);
    expect(readTranscript(path, 2).map((kept) => kept.ts)).toEqual(["2", "3"]);
  });

  it("the newest entry stays even alone above the limit", async () => {
    const path = transcriptPath(temporaryDirectory(), "a");
    await appendTranscript(path, entry({ ts: "1" }), NO_LOCKS);
    await appendTranscript(path, entry({ ts: "2", text: "y".repeat(TRANSCRIPT_MOST_BYTES) }), NO_LOCKS);
    expect(readTranscript(path).map((kept) => kept.ts)).toEqual(["2"]);
  });

  it("what is appended behind a torn line is not lost", async () => {
    const path = transcriptPath(temporaryDirectory(), "a");
    await appendTranscript(path, entry({ ts: "1" }), NO_LOCKS);
    appendFileSync(path, '{"ts":"torn');
    await appendTranscript(path, entry({ ts: "2" }), NO_LOCKS);
    expect(readTranscript(path).map((kept) => kept.ts)).toEqual(["1", "2"]);
  });

  it("removing is no error when there is nothing", async () => {
    const dir = temporaryDirectory();
    await appendTranscript(transcriptPath(dir, "a"), entry(), NO_LOCKS);
    for (let n = 0; n < 2; n += 1) {
      await removeTranscript(transcriptPath(dir, "a"), NO_LOCKS);
      await removeParticipantJournal(participantsPath(dir, "a"), NO_LOCKS);
    }
    expect(readTranscript(transcriptPath(dir, "a"))).toEqual([]);
  });
});

describe("the last activity", () => {
  const big = `{"ts":"big","text":"${"z".repeat(70_000)}"}`;
  it.each([
    ["nothing", "", "", false],
    ["one entry", '{"ts":"1"}\n', "1", false],
    ["no end", '{"ts":"1"}\n{"ts":"2"}', "2", false],
    ["blank lines behind", '{"ts":"1"}\n\n  \n', "1", false],
    ["a torn tail", `${big}\n{"ts":"1"}\n{"ts":"2`, "1", true],
    ["an entry without a time", '{"ts":"1"}\n{}\n', "", false],
    ["a last entry above 64 KiB", `{"ts":"1"}\n${big}\n`, "big", true],
    ["a small one behind a big one", `${big}\n{"ts":"2"}\n`, "2", false],
    ["only garbage", "x\ny\n", "", true],
    ["64 KiB of blanks behind", `{"ts":"1"}\n${"\n".repeat(70_000)}`, "1", true],
    ["exactly blanks to the window", `{"ts":"1"}\n${"\n".repeat(65_536)}`, "1", true],
  ])("%s", (_name, content, ts, whole) => {
    const path = fileOf(content);
    const before = fileWork.bytesRead;
    expect(readTranscriptLast(path)).toBe(ts);
    const read = fileWork.bytesRead - before;
    if (content.length > 65_536) expect(read > 65_536).toBe(whole);
  });

  it("a missing file has none, a link is left alone", () => {
    const dir = temporaryDirectory();
    expect(readTranscriptLast(join(dir, "none.jsonl"))).toBe("");
    symlinkSync("/etc/passwd", join(dir, "link.jsonl"));
    expect(() => readTranscript(join(dir, "link.jsonl"))).toThrow(/left alone/u);
  });

  it("a limit gives the last entries", () => {
    const path = fileOf(Array.from({ length: 5000 }, (_, n) => `{"ts":"${n}"}\n`).join(""));
    expect(readTranscript(path, 3).map((one) => one.ts)).toEqual(["4997", "4998", "4999"]);
    expect(readTranscript(path)).toHaveLength(5000);
  });
});

describe("participants", () => {
  it("are recorded once, in order, whatever the journal looks like", async () => {
    const path = participantsPath(temporaryDirectory(), "a");
    expect(readParticipants(path)).toEqual([]);
    expect(await appendParticipant(path, "1", NO_LOCKS)).toBe(true);
    expect(await appendParticipant(path, "1", NO_LOCKS)).toBe(false);
    appendFileSync(path, "\n  2  \n\n1\n3");
    expect(await appendParticipant(path, "4", NO_LOCKS)).toBe(true);
    expect(readParticipants(path)).toEqual(["1", "2", "3", "4"]);
    await expect(appendParticipant(path, "5\n6", NO_LOCKS)).rejects.toBeInstanceOf(RangeError);
  });

  it("a line longer than the program reads ends the list", () => {
    const path = fileOf(`1\n${"9".repeat(70_000)}\n2\n`);
    expect(readParticipants(path)).toEqual(["1"]);
  });
});
