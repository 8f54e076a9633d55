import { type GeminiFile, messageOf, messagesOf } from "./file.ts";

export type Cut =
  | {
      ok: true;
      /** Messages of the copy, in order. */
      ids: string[];
      /** Does it end with a finished turn? */
      over: boolean;
    }
  | { ok: false; reason: string };

/** Where a copy may end: before a prompt of the conversation as it is now. `before` null: all of it. */
export function cutBefore(file: GeminiFile, before: string | null): Cut {
  if (before === null) return healthy(file, file.active);
  const message = messageOf(file, before);
  if (message === null) return { ok: false, reason: `there is no entry ${before} to fork before` };
  if (!message.active) return { ok: false, reason: "it was rewound: it is no longer part of the conversation" };
  if (message.answer) return { ok: false, reason: "the call before it would be left without its result" };
  if (message.type === "gemini") return { ok: false, reason: "the prompt before it would be left without its answer" };
  if (!message.prompt) return { ok: false, reason: "a fork ends before a prompt: choose one" };
  return healthy(file, file.active.slice(0, file.active.indexOf(before)));
}

function healthy(file: GeminiFile, ids: readonly string[]): Cut {
  const messages = messagesOf(file, ids);
  if (!messages.some((one) => one.prompt)) {
    return { ok: false, reason: "nothing was said before it: start a new session instead" };
  }
  const last = messages.findLast((one) => one.prompt || one.answer || one.type === "gemini");
  return { ok: true, ids: [...ids], over: last?.type === "gemini" };
}

/** May a fork end just before this message? For pages; `first` is the conversation's first prompt. */
export function isForkable(file: GeminiFile, id: string, first: string | null): boolean {
  const message = messageOf(file, id);
  return message?.prompt === true && message.active && first !== null && id !== first;
}

export function firstPromptOf(file: GeminiFile): string | null {
  return file.active.find((id) => messageOf(file, id)?.prompt === true) ?? null;
}
