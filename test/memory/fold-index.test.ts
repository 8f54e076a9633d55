import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { advanceFile, type FileFold, type Folded, runNow } from "../../src/files/fold.ts";
import { KeptFolded } from "../../src/files/kept-folded.ts";
import { FoldIndex } from "../../src/memory/fold-index.ts";
import { temporaryDirectory } from "../support/temp.ts";

interface Text {
  text: string;
}

/** Keeps what it reads. */
const whole: FileFold<Text> = {
  name: "whole",
  version: 3,
  initial: () => ({ text: "" }),
  *advance(state, bytes, from) {
    yield;
    state.text += bytes.read(from, bytes.size - from).toString("utf8");
    return bytes.size;
  },
};

const NAMES = ["a", "tab\there", "line\nbreak", "日本", "large"];

function folded(path: string): Folded<Text> {
  const result = runNow(advanceFile(whole, path, null));
  if (!result.ok) throw new Error(result.message);
  return result.folded;
}

async function saved() {
  const directory = temporaryDirectory();
  const paths = NAMES.map((name) => join(directory, name));
  for (const path of paths) writeFileSync(path, path.endsWith("large") ? "ü".repeat(300_000) : `text of ${path}`);
  const index = FoldIndex.open(directory, whole);
  for (const path of paths) index.set(path, folded(path));
  await index.save();
  index.close();
  return { directory, paths, file: join(directory, "folds", "whole-3.folds") };
}

describe("the index", () => {
  test("gives back every state, whatever the path and the size", async () => {
    const { directory, paths } = await saved();
    const index = FoldIndex.open(directory, whole);
    for (const path of paths) {
      const { state, ...stamp } = folded(path);
      const found = index.get(path);
      expect(found).toMatchObject(stamp);
      expect(found?.state).toEqual(state);
    }
    expect(index.get(join(directory, "other"))).toBeNull();
    index.close();
  });

  test("a damaged state costs itself; a damaged table or a torn file all; none of it throws", async () => {
    const { directory, paths, file } = await saved();
    const bytes = readFileSync(file);
    const damage = (at: number): number => {
      const broken = Buffer.from(bytes);
      broken[at] = (broken[at] ?? 0) ^ 0x01;
      writeFileSync(file, broken);
      const index = FoldIndex.open(directory, whole);
      const found = paths.filter((path) => index.get(path)?.state !== undefined).length;
      index.close();
      return found;
    };
    expect(damage(bytes.indexOf("text of") + 2)).toBe(NAMES.length - 1);
    expect(damage(bytes.lastIndexOf('"path"'))).toBe(0);
    expect(damage(bytes.lastIndexOf("contents") + 10)).toBe(0);
    expect(damage(3)).toBe(0);
    for (let size = bytes.length - 1; size > 0; size = Math.floor(size * 0.8)) {
      writeFileSync(file, bytes);
      truncateSync(file, size);
      const index = FoldIndex.open(directory, whole);
      expect(index.get(paths[0] ?? "")).toBeNull();
      index.close();
    }
  });

  test("another version of the fold knows nothing of it", async () => {
    const { directory, paths } = await saved();
    const index = FoldIndex.open(directory, { ...whole, version: 4 });
    expect(paths.map((path) => index.get(path))).toEqual(NAMES.map(() => null));
    index.close();
  });

  test("what is deleted is gone, what was not asked for stays, and nothing is written without a change", async () => {
    const { directory, paths, file } = await saved();
    const [gone = "", kept = ""] = paths;
    const { ino } = statSync(file);
    const same = FoldIndex.open(directory, whole);
    same.get(kept);
    await same.save();
    same.close();
    expect(statSync(file).ino).toBe(ino);
    const index = FoldIndex.open(directory, whole);
    index.delete(gone);
    await index.save();
    expect(index.get(gone)).toBeNull();
    expect(index.get(kept)?.state).toEqual({ text: `text of ${kept}` });
    index.close();
    expect(readdirSync(join(directory, "folds"))).toEqual(["whole-3.folds"]);
  });

  test("a state that was saved rests in the file, and stays what it was when another forktail replaces that", async () => {
    const { directory, paths, file } = await saved();
    const [path = ""] = paths;
    const index = FoldIndex.open(directory, whole);
    const kept = KeptFolded.awake(folded(path));
    index.set(path, kept);
    await index.save();
    expect(kept.isResting).toBe(true);
    writeFileSync(file, "something else");
    expect(kept.state).toEqual({ text: `text of ${path}` });
    index.close();
    // Its file is closed: the session file knows.
    expect(JSON.parse(kept.text())).toEqual({ text: `text of ${path}` });
  });

  test("whoever holds a state and whoever asks for it again have the same one", () => {
    const kept = KeptFolded.awake({ ...folded(writeTemporary("x")), state: { text: "x" } });
    const { state } = kept;
    let reads = 0;
    kept.rest({
      text: () => {
        reads += 1;
        return JSON.stringify({ text: "x" });
      },
    });
    expect(kept.state).toBe(state);
    expect(reads).toBe(0);
  });
});

function writeTemporary(text: string): string {
  const path = join(temporaryDirectory(), "file");
  writeFileSync(path, text);
  return path;
}
