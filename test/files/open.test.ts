import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CannotOpen, openRegular } from "../../src/files/open.ts";
import { temporaryDirectory } from "../support/temp.ts";

function kindOf(path: string): string {
  try {
    using file = openRegular(path);
    return `opened ${file.size}`;
  } catch (error) {
    if (!(error instanceof CannotOpen)) throw error;
    expect(error.path).toBe(path);
    return error.kind;
  }
}

describe("opening other people's files", () => {
  test("regular files only: no link, no directory, no FIFO (which would hang)", () => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, "file"), "four");
    symlinkSync(join(dir, "file"), join(dir, "link"));
    symlinkSync(join(dir, "nowhere"), join(dir, "broken"));
    mkdirSync(join(dir, "directory"));
    execFileSync("mkfifo", [join(dir, "fifo")]);
    const kinds = ["file", "link", "broken", "directory", "fifo", "nothing", "file/below"].map((name) =>
      kindOf(join(dir, name)),
    );
    expect(kinds).toEqual(["opened 4", "not-regular", "not-regular", "not-regular", "not-regular", "gone", "gone"]);
  });

  // Root may read everything.
  test.skipIf(process.getuid?.() === 0)("a file without permission says so", () => {
    const path = join(temporaryDirectory(), "secret");
    writeFileSync(path, "x");
    chmodSync(path, 0);
    expect(kindOf(path)).toBe("unreadable");
  });

  test("reads what is there, and less at the end", () => {
    const path = join(temporaryDirectory(), "file");
    writeFileSync(path, "0123456789");
    using file = openRegular(path);
    expect(file.read(3, 4).toString()).toBe("3456");
    expect(file.read(8, 100).toString()).toBe("89");
    expect(file.read(50, 1)).toHaveLength(0);
  });
});
