import type { MarkedToken, Token } from "marked";

const TYPES: readonly string[] = [
  "blockquote",
  "br",
  "checkbox",
  "code",
  "codespan",
  "def",
  "del",
  "em",
  "escape",
  "heading",
  "hr",
  "html",
  "image",
  "link",
  "list",
  "list_item",
  "paragraph",
  "space",
  "strong",
  "table",
  "text",
] satisfies MarkedToken["type"][];

/** One of the lexer's own tokens: with no extension loaded, every one is. */
export function isMarkedToken(token: Token): token is MarkedToken {
  return TYPES.includes(token.type);
}

/** The tokens inside a token, none where it has none. */
export function innerTokens(token: Token): Token[] {
  return "tokens" in token && token.tokens ? token.tokens : [];
}
