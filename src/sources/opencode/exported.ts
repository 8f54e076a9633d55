import { type Fields, fieldsOf, listField, numberField, objectField, textField } from "../jsonl/record.ts";
import { FreshIds } from "./fresh-ids.ts";
import { forkTitle } from "./titles.ts";

/** What `opencode export` prints and `opencode import` takes. */
export interface Exported {
  info: Fields;
  messages: { info: Fields; parts: Fields[] }[];
}

/** Throws when it is something else. */
export function readExported(text: string): Exported {
  const fields = fieldsOf(JSON.parse(text));
  const info = objectField(fields, "info");
  if (info === null || textField(info, "id") === null) throw new Error("the export holds no session");
  const messages = listField(fields, "messages").map((one) => {
    const message = objectField(fieldsOf(one), "info");
    if (message === null || textField(message, "id") === null)
      throw new Error("the export holds a message without an id");
    const parts = listField(fieldsOf(one), "parts").map(fieldsOf);
    return { info: message, parts: parts.filter((part) => part !== null) };
  });
  return { info, messages };
}

/**
 * The first messages of an export as a session of its own: every id is fresh, because an import overwrites what has
 * the same (agents.md §8). Times stay, which is how copies of replies are told from new ones.
 */
export function cutExport(
  from: Exported,
  keep: readonly string[],
  at: number,
): { id: string; exported: Exported; parts: number } {
  const wanted = new Set(keep);
  const messages = from.messages.filter((one) => wanted.has(textField(one.info, "id") ?? ""));
  if (messages.length !== keep.length) throw new Error("the export lacks messages that lie in the database");
  const fresh = new FreshIds(at);
  const id = fresh.session();
  const renamed = new Map<string, string>([[textField(from.info, "id") ?? "", id]]);
  let parts = 0;
  for (const message of messages) {
    renamed.set(textField(message.info, "id") ?? "", fresh.message());
    for (const part of message.parts) {
      const old = textField(part, "id");
      if (old !== null) renamed.set(old, fresh.part());
      parts += 1;
    }
  }
  const { parentID: _parent, revert: _revert, share: _share, ...info } = from.info;
  const before = objectField(from.info, "time");
  const time = { ...before, created: at, updated: at };
  const title = forkTitle(textField(from.info, "title"), numberField(before, "created") ?? at);
  const exported = rename({ info: { ...info, title, time }, messages }, renamed);
  return { id, exported, parts };
}

function rename(exported: Exported, names: ReadonlyMap<string, string>): Exported {
  const walk = (value: unknown, depth: number): unknown => {
    if (typeof value === "string") return names.get(value) ?? value;
    if (typeof value !== "object" || value === null || depth > 64) return value;
    if (Array.isArray(value)) return value.map((one) => walk(one, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, walk(one, depth + 1)]));
  };
  const fields = (value: Fields): Fields => fieldsOf(walk(value, 0)) ?? {};
  return {
    info: fields(exported.info),
    messages: exported.messages.map((one) => ({ info: fields(one.info), parts: one.parts.map(fields) })),
  };
}
