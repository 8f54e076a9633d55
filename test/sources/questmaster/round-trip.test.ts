import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  extraString,
  manifestText,
  newManifest,
  parseManifest,
  parseSessionState,
  sessionStateText,
  setExtra,
} from "../../../src/sources/questmaster/index.ts";
import { fixture } from "../../support/fixtures.ts";
import { expected } from "./expected.ts";

const root = fixture("questmaster", "state");
const textOf = (...parts: string[]): string => readFileSync(join(root, ...parts), "utf8");

/** Files that a release wrote itself, hence in its own order and form; the others were edited by hand. */
const writtenByProgram = Object.values(expected.sessions).filter((one) => {
  return (
    one.manifest === "ok" && one.extra_keys.length > 0 && !["party-1784544840", "party-1784541060"].includes(one.id)
  );
});

describe("a file that the real program wrote", () => {
  it.each(writtenByProgram)("keeps every byte when it is the manifest of $id", ({ id }) => {
    expect(manifestText(parseManifest(id, textOf(`${id}.json`)))).toBe(textOf(`${id}.json`));
  });

  it.each(writtenByProgram.filter((one) => one.state_file === "ok"))(
    "keeps its meaning when it is the state of $id",
    ({ id }) => {
      const text = textOf(id, "state.json");
      expect(JSON.parse(sessionStateText(parseSessionState(text)))).toEqual(JSON.parse(text));
    },
  );
});

describe("a manifest", () => {
  it("keeps what it does not know: big integers, nested order, exact numbers, empty containers", () => {
    const text = `{
  "a_first": {
    "b": 1,
    "a": [],
    "2": {},
    "1": 1.50
  },
  "big": 12345678901234567890,
  "nested": {
    "a": {
      "b": [
        1,
        2,
        {
          "c": null
        }
      ]
    }
  },
  "party_id": "party-1",
  "title": "t \\u003c \\u0026 \\u2028",
  "zero": -0.0
}
`;
    expect(manifestText(parseManifest("party-1", text))).toBe(text);
  });

  it("loses a resume id that is not safe, and keeps one that is empty", () => {
    const ids = { claude_session_id: "a.b", codex_thread_id: "", pi_session_id: "ok" };
    const manifest = parseManifest("qm-1", JSON.stringify(ids));
    expect(manifest.unsafe).toEqual(["claude_session_id"]);
    const { claude_session_id: _unsafe, ...kept } = ids;
    expect(JSON.parse(manifestText(manifest))).toEqual({ session_id: "qm-1", ...kept });
  });

  it("is written in struct order without extra keys, sorted with one", () => {
    const plain = newManifest("party-1", { title: "t", cwd: "/w", workers: ["party-2"], sessionType: "master" });
    const keys = (text: string): string[] => Object.keys(JSON.parse(text));
    expect(keys(manifestText(plain))).toEqual(["party_id", "title", "cwd", "session_type", "workers"]);
    setExtra(plain, "initial_prompt", "go");
    expect(keys(manifestText(plain))).toEqual([
      "cwd",
      "initial_prompt",
      "party_id",
      "session_type",
      "title",
      "workers",
    ]);
  });

  it.each([
    ["party-1", '{"party_id":"x"}', "party_id"],
    ["qm-1", '{"party_id":"x"}', "party_id"],
    ["qm-1", '{"session_id":"x"}', "session_id"],
    ["qm-1", "{}", "session_id"],
    ["party-1", "{}", "party_id"],
  ])("of %s read from %s writes its id under %s", (id, text, key) => {
    expect(JSON.parse(manifestText(parseManifest(id, text)))).toEqual({ [key]: id });
  });

  it.each([
    ["an empty file", ""],
    ["an array", "[]"],
    ["null", "null"],
    ["something behind the object", '{"title":"a"} x'],
    ["two objects", '{"title":"a"}{"title":"b"}'],
    ["a torn object", '{"title":"a"'],
    ["a title that is a number", '{"title":42}'],
    ["agents that are no array", '{"agents":{}}'],
    ["an agent that is a string", '{"agents":["claude"]}'],
    ["a worker that is a number", '{"workers":[1]}'],
    ["a window that is a fraction", '{"agents":[{"window":1.5}]}'],
    ["a byte order mark", '\ufeff{"title":"a"}'],
  ])("is refused when it is %s", (_name, text) => {
    expect(() => parseManifest("party-1", text)).toThrow();
  });

  it.each([
    ['{"title":null,"agents":null,"workers":null}', { title: "", agents: 0, workers: 0 }],
    ['{"title":"a","title":"b"}', { title: "b", agents: 0, workers: 0 }],
    ['{"agents":[null]}', { title: "", agents: 1, workers: 0 }],
    ['  {"title" : "spaced" , "workers" : [ ] }\n', { title: "spaced", agents: 0, workers: 0 }],
  ])("reads %s as Go does", (text, wanted) => {
    const manifest = parseManifest("party-1", text);
    expect({ title: manifest.title, agents: manifest.agents.length, workers: manifest.workers.length }).toEqual(wanted);
  });

  it("drops unsafe resume ids, keeps ids that are no strings, and says so", () => {
    const manifest = parseManifest(
      "party-1",
      '{"claude_session_id":"../x","codex_thread_id":17,"pi_session_id":"ok-1","agents":[{"name":"claude","resume_id":"a.b"}]}',
    );
    expect(manifest.unsafe).toEqual(["claude_session_id"]);
    expect([...manifest.extra.keys()]).toEqual(["codex_thread_id", "pi_session_id"]);
    expect(extraString(manifest, "codex_thread_id")).toBe("");
    expect(extraString(manifest, "pi_session_id")).toBe("ok-1");
    expect(manifest.agents[0]?.resumeID).toBe("");
  });

  it("survives nesting that would break a recursive reader", () => {
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    expect(parseManifest("party-1", `{"x":${deep}}`).extra.get("x")).toBe(deep);
  });
});

describe("a state", () => {
  it("keeps seq beyond 2^53 and keys it does not know", () => {
    const text =
      '{"session_id":"qm-1","version":1,"panes":{"primary":{"role":"primary","agent":"claude","state":"done","activity":"a \\u0026 b","seq":1784548625123456789,"last_event":"2026-07-20T11:57:05.123456789Z","last_kind":"Stop","working_since":"0001-01-01T00:00:00Z","mood":"sunny"}},"seen_at":"2026-07-20T11:57:05.123456789Z","quest_id":"q","x":{"k":[true,12345678901234567890]}}\n';
    expect(sessionStateText(parseSessionState(text))).toBe(text);
  });

  it.each([
    ["a torn file", '{"session_id":"qm-1","ver'],
    ["a seq that is no integer", '{"panes":{"primary":{"seq":1.5}}}'],
    ["a seq above 64 bits", '{"panes":{"primary":{"seq":9223372036854775808}}}'],
    ["a time that is none", '{"seen_at":"yesterday"}'],
    ["panes that are an array", '{"panes":[]}'],
  ])("is refused when it is %s", (_name, text) => {
    expect(() => parseSessionState(text)).toThrow();
  });
});

describe("a written manifest", () => {
  it("is read back as it was", () => {
    const path = join(root, "party-1784544840.json");
    const once = parseManifest("party-1784544840", readFileSync(path, "utf8"));
    const again = parseManifest("party-1784544840", manifestText(once));
    expect({ ...again, unsafe: once.unsafe }).toEqual(once);
  });
});
