import type { Token } from "marked";
import type { Span, Style } from "./line.ts";
import { innerTokens, isMarkedToken } from "./markdown-token.ts";
import { printableText } from "./printable.ts";

/** How deep emphasis may nest; below that its source is shown. Keeps hostile input off the stack. */
const DEEPEST = 16;

const ENTITIES: Record<string, string> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": " ",
};
const ENTITY = /&(?:amp|lt|gt|quot|#39|nbsp);/gu;

/** What a run of text inherits from what it stands in. */
export type Look = Omit<Span, "text">;

/** Inline tokens as spans. A line break of the source stays one: agents write lines, not paragraphs. */
export function inlineSpans(tokens: readonly Token[], look: Look, depth = 0): Span[] {
  const spans: Span[] = [];
  for (const token of tokens) spans.push(...inlineToken(token, look, depth));
  return spans;
}

function inlineToken(token: Token, look: Look, depth: number): Span[] {
  if (depth > DEEPEST || !isMarkedToken(token)) return plain(token.raw, look);
  const inner = (change: Partial<Look>): Span[] => inlineSpans(innerTokens(token), { ...look, ...change }, depth + 1);
  switch (token.type) {
    case "strong":
      return inner({ bold: true });
    case "em":
      return inner({ italic: true });
    case "del":
      return inner({ strike: true });
    case "codespan":
      return plain(token.text, { ...look, style: "code" });
    case "br":
      return plain("\n", look);
    case "escape":
      return plain(token.text, look);
    case "link":
      return linkSpans(token.href, inner(linkLook(token.href)), look);
    case "image":
      return [...plain(`[${token.text || "image"}]`, look), ...plain(` (${token.href})`, { style: "faint" })];
    case "html":
      return plain(token.raw, { ...look, style: "faint" });
    case "checkbox":
      return [];
    default:
      return innerTokens(token).length > 0
        ? inner({})
        : plain(unescaped(token.type === "text" ? token.text : token.raw), look);
  }
}

function plain(text: string, look: Look): Span[] {
  const shown = printableText(text);
  return shown === "" ? [] : [{ ...look, text: shown }];
}

/** The text and, where it says something else, the address: a link cannot hide where it leads. */
function linkSpans(href: string, text: Span[], look: Look): Span[] {
  const shown = text.map((piece) => piece.text).join("");
  const address = printableText(href);
  if (shown === address || address === "" || `mailto:${shown}` === address || `http://${shown}` === address)
    return text;
  return [...text, ...plain(shown === "" ? address : ` (${address})`, { ...look, style: "faint" })];
}

function linkLook(href: string): Look {
  const style: Style = "link";
  return isSafeLink(href) ? { style, underline: true, href } : { style, underline: true };
}

/** May be given to the terminal as a hyperlink. */
function isSafeLink(href: string): boolean {
  return /^(?:https?:\/\/|mailto:)[\x21-\x7e]{1,2000}$/u.test(href);
}

function unescaped(text: string): string {
  return text.includes("&") ? text.replace(ENTITY, (entity) => ENTITIES[entity] ?? entity) : text;
}
