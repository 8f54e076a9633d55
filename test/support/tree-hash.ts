import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Every name, kind, mode, size, mtime and content under a directory, as one comparable table. */
export function treeHash(root: string): Record<string, string> {
  const rows: Record<string, string> = {};
  const walk = (path: string, name: string): void => {
    const stat = lstatSync(path);
    const facts = `${(stat.mode & 0o7777).toString(8)} ${stat.isDirectory() ? "dir" : stat.size} ${stat.mtimeMs}`;
    if (stat.isDirectory()) {
      rows[name] = facts;
      for (const child of readdirSync(path).sort()) walk(join(path, child), `${name}/${child}`);
    } else if (stat.isSymbolicLink()) rows[name] = `${facts} -> ${readlinkSync(path)}`;
    else if (stat.isFile() && (stat.mode & 0o400) !== 0) {
      rows[name] = `${facts} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`;
    } else rows[name] = facts;
  };
  walk(root, ".");
  return rows;
}
