// A stand-in for a running OpenCode: keeps the database open and adds a session for every line it is given.
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";

const database = new DatabaseSync(process.argv[2] ?? "");
database.exec("pragma journal_mode = wal");
database.prepare("select count(*) from session").get();
for (const table of ["session", "message", "part"]) database.prepare(`select * from ${table}`).all();
process.stdout.write("ready\n");
for await (const id of createInterface({ input: process.stdin })) {
  database
    .prepare(
      "insert into session (id, project_id, directory, title, version, time_created, time_updated) values (?, 'p', '/work/pot', ?, '1', 1, 1)",
    )
    .run(id, `Title ${id}`);
  process.stdout.write(`${id}\n`);
}
