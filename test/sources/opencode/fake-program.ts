import { chmodSync, cpSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeDirectory, temporaryDirectory } from "../../support/temp.ts";

const HERE = dirname(fileURLToPath(import.meta.url));

/** A PATH on which `opencode` is the stand-in. */
export function fakeProgram(): string {
  const bin = makeDirectory(temporaryDirectory(), "bin");
  cpSync(join(HERE, "fake-opencode.mjs"), join(bin, "fake.mjs"));
  writeFileSync(
    join(bin, "opencode"),
    `#!/bin/sh\nexec ${process.execPath} --no-warnings ${join(bin, "fake.mjs")} "$@"\n`,
  );
  chmodSync(join(bin, "opencode"), 0o755);
  return bin;
}
