#!/usr/bin/env node
// A stand-in for `opencode export | import | session delete`, over the same tables. FAKE_OPENCODE makes it misbehave.
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const [verb, ...rest] = process.argv.slice(2);
const path = process.env.OPENCODE_DB ?? join(process.env.XDG_DATA_HOME ?? "", "opencode", "opencode.db");
const database = new DatabaseSync(path);
const fault = process.env.FAKE_OPENCODE ?? "";
appendFileSync(join(process.env.XDG_DATA_HOME ?? "", "calls.txt"), `${verb} ${process.cwd()}\n`);

if (verb === "export") {
  const row = database.prepare("select * from session where id = ?").get(rest[0]);
  const messages = database
    .prepare("select * from message where session_id = ? order by time_created, id")
    .all(rest[0]);
  const parts = database.prepare("select * from part where message_id = ? order by id");
  process.stdout.write(
    JSON.stringify({
      info: {
        id: row.id,
        title: row.title,
        directory: row.directory,
        version: row.version,
        revert: row.revert,
        time: { created: row.time_created },
      },
      messages: messages.map((one) => ({
        info: { id: one.id, sessionID: one.session_id, ...JSON.parse(one.data) },
        parts: parts
          .all(one.id)
          .map((part) => ({ id: part.id, messageID: one.id, sessionID: one.session_id, ...JSON.parse(part.data) })),
      })),
    }),
  );
}
if (verb === "import") {
  const { info, messages } = JSON.parse(readFileSync(rest[0], "utf8"));
  database
    .prepare(
      "insert into session (id, project_id, directory, title, version, time_created, time_updated) values (?, 'p', ?, ?, ?, ?, ?)",
    )
    .run(info.id, process.cwd(), info.title, info.version, info.time.created, info.time.updated);
  for (const one of messages.slice(0, fault === "half" ? 1 : undefined)) {
    const { id, sessionID, ...data } = one.info;
    database
      .prepare("insert into message values (?, ?, ?, ?, ?)")
      .run(id, sessionID, data.time.created, 1, JSON.stringify(data));
    for (const { id: part, messageID, sessionID: session, ...fields } of one.parts) {
      database
        .prepare("insert into part values (?, ?, ?, ?, ?, ?)")
        .run(part, messageID, session, 1, 1, JSON.stringify(fields));
    }
  }
  if (fault === "fail") {
    process.stderr.write("no space left\n");
    process.exitCode = 3;
  }
}
if (verb === "session" && rest[0] === "delete") {
  for (const sql of [
    "delete from session where id = ?",
    "delete from message where session_id = ?",
    "delete from part where session_id = ?",
  ]) {
    database.prepare(sql).run(rest[1]);
  }
}
