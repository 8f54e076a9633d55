import { describe, expect, test } from "vitest";
import { type Edit, filesEditedBy, lastEdited, noteEdits } from "../../src/session/edited-files.ts";

const PATCH = [
  "*** Begin Patch",
  "*** Update File: src/brew.ts",
  "*** Move to: src/steep.ts",
  "@@",
  "+*** nothing",
  "*** Add File: /opt/pot.md",
  "*** Delete File: lid.ts",
  "*** End Patch",
].join("\n");
const PATCHED = ["/pot/src/brew.ts", "/pot/src/steep.ts", "/opt/pot.md", "/pot/lid.ts"];

describe("the files a call changes", () => {
  test.each<[string, string, unknown, string[]]>([
    ["an edit by an absolute path", "Edit", { file_path: "/pot/a.ts", old_string: "a" }, ["/pot/a.ts"]],
    ["a write below the directory", "write", { path: "lib/../a.ts", content: "" }, ["/pot/a.ts"]],
    ["a camel-cased path", "multiedit", { filePath: "/pot/a.ts" }, ["/pot/a.ts"]],
    ["a notebook", "NotebookEdit", { notebook_path: "/pot/a.ipynb" }, ["/pot/a.ipynb"]],
    ["a replacement", "replace", { file_path: "a.ts" }, ["/pot/a.ts"]],
    ["a patch as it is", "apply_patch", PATCH, PATCHED],
    ["a patch in a field", "patch", { patchText: PATCH }, PATCHED],
    ["a patch by a shell", "shell", { command: ["bash", "-lc", `apply_patch <<'EOF'\n${PATCH}\nEOF`] }, PATCHED],
    [
      "a patch from another directory",
      "shell",
      { command: ["apply_patch", "*** Add File: a.ts"], workdir: "lib" },
      ["/pot/lib/a.ts"],
    ],
    ["a patch that a shell only prints", "shell", { command: ["echo", PATCH] }, []],
    ["a tool that reads", "Read", { file_path: "/pot/a.ts" }, []],
    ["an editor that views", "str_replace_editor", { command: "view", path: "/pot/a.ts" }, []],
    ["a list of things to do", "TodoWrite", { path: "/pot/a.ts" }, []],
    ["a home that may be another's", "write", { path: "~/a.ts" }, []],
    ["control characters", "write", { path: "/pot/\u001b[2Ja.ts" }, []],
    ["no path at all", "write", { path: 4 }, []],
    ["no arguments", "edit", null, []],
    ["a field that every object has", "edit", JSON.parse('{"__proto__": {"path": "/pot/a.ts"}}'), []],
  ])("%s", (_, name, args, files) => {
    expect(filesEditedBy(name, args, "/pot")).toEqual(files);
  });

  test("a relative path without a directory is nothing", () => {
    expect(filesEditedBy("write", { path: "a.ts" }, null)).toEqual([]);
    expect(filesEditedBy("write", { path: "a.ts" }, "pot")).toEqual([]);
  });
});

describe("the files edited last", () => {
  test("each stands once, where it was edited last, and old ones make room", () => {
    const edits: Edit[] = [];
    for (let i = 0; i < 30; i += 1) noteEdits(edits, [`/pot/${i}`, "/pot/often"], i);
    const last = lastEdited(edits, 30);
    expect(last).toHaveLength(20);
    expect(last.slice(-3)).toEqual(["/pot/28", "/pot/29", "/pot/often"]);
  });

  test("an hour before the last record is the last that counts", () => {
    const edits: Edit[] = [];
    const at = Date.parse("2026-11-20T09:00:00Z");
    noteEdits(edits, ["/pot/early"], at - 3_600_001);
    noteEdits(edits, ["/pot/hour"], at - 3_600_000);
    noteEdits(edits, ["/pot/now"], at);
    expect(lastEdited(edits, at)).toEqual(["/pot/hour", "/pot/now"]);
  });
});
