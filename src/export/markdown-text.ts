import { lexer, type Token, walkTokens } from "marked";
import { fenced } from "./fence.ts";

/** Longer texts are not parsed: they stand in a fence. */
const MOST_PARSED = 256 * 1024;

/**
 * Somebody's Markdown inside ours: as it is where it does no harm. Raw HTML and links that run something become text,
 * an open fence is closed, and what still is not harmless then stands in a fence as a whole.
 */
export function embeddedMarkdown(text: string): string {
  const trimmed = text.replace(/^\n+|\s+$/gu, "");
  if (trimmed.length > MOST_PARSED) return fenced(trimmed);
  const closed = withClosedFence(trimmed);
  if (isHarmless(closed)) return closed;
  const plain = withClosedFence(defused(trimmed));
  return isHarmless(plain) ? plain : fenced(trimmed);
}

function tokensOf(text: string): Token[] | null {
  try {
    return lexer(text);
  } catch {
    return null;
  }
}

function isHarmless(text: string): boolean {
  const tokens = tokensOf(text);
  if (tokens === null) return false;
  let harmless = true;
  walkTokens(tokens, (token) => {
    if (token.type === "html" || token.type === "def") harmless &&= token.type === "def" && isSafeTarget(token.href);
    else if (token.type === "link" || token.type === "image") harmless &&= isSafeTarget(token.href);
  });
  return harmless;
}

/** http, https, mailto, a place in this file, or a path without a scheme. */
function isSafeTarget(href: unknown): boolean {
  return typeof href === "string" && /^(?:https?:\/\/|mailto:|#|[^:&\\\s]*$)/iu.test(href);
}

/** Ends the fence that the text leaves open: it would swallow everything after it. */
function withClosedFence(text: string): string {
  let open: { mark: string; length: number } | null = null;
  for (const line of text.split("\n")) {
    const [, run = "", rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/u.exec(line) ?? [];
    if (run === "") continue;
    const mark = run.slice(0, 1);
    if (open === null) {
      if (mark === "~" || !rest.includes("`")) open = { mark, length: run.length };
    } else if (mark === open.mark && run.length >= open.length && rest.trim() === "") open = null;
  }
  return open === null ? text : `${text}\n${open.mark.repeat(open.length)}`;
}

/** Outside fences and code spans: `<` that could begin HTML, and links elsewhere than to the web, as text. */
function defused(text: string): string {
  let fence = "";
  let held: string[] = [];
  const result: string[] = [];
  const flush = (): void => {
    if (held.length > 0) result.push(withoutMarkup(held.join("\n")));
    held = [];
  };
  for (const line of text.split("\n")) {
    const run = /^ {0,3}(`{3,}|~{3,})/u.exec(line)?.[1] ?? "";
    if (fence === "" && run !== "") {
      flush();
      fence = run;
      result.push(line);
    } else if (fence !== "") {
      result.push(line);
      if (run.startsWith(fence) && line.trim() === run) fence = "";
    } else if (line.trim() === "") {
      flush();
      result.push(line);
    } else held.push(line);
  }
  flush();
  return result.join("\n");
}

/** One paragraph: code spans stay as they are. */
function withoutMarkup(paragraph: string): string {
  let result = "";
  let at = 0;
  for (const { 0: whole, index } of paragraph.matchAll(/\\[\s\S]|(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/gu)) {
    result += plain(paragraph.slice(at, index)) + whole;
    at = index + whole.length;
  }
  return result + plain(paragraph.slice(at));
}

function plain(text: string): string {
  return text
    .replace(/<(?=[A-Za-z/!?])(?!https?:\/\/[^\s<>]*>)/gu, "&lt;")
    .replace(/\](\(|:)(\s*<?)([^\s)>]*)/gu, (whole, mark: string, space: string, href: string) =>
      isSafeTarget(href) && !space.includes("<") ? whole : `]\\${mark}${space}${href}`,
    );
}
