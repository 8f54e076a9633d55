import fastStringWidth from "fast-string-width";

/** xterm's packed answer for a code point: state, width, and whether it belongs to the cell before it. */
function packed(width: number, joins: boolean, state = 0): number {
  return (state << 3) | (width << 1) | (joins ? 1 : 0);
}

const ZWJ = 0x200d;
const EMOJI_STYLE = 0xfe0f;
/** State: the code point before was a joiner. */
const AFTER_JOINER = 1;
/** State: the code point before was the first half of a flag. */
const AFTER_HALF_FLAG = 2;

/**
 * Widths as today's terminals have them: emoji two cells wide, joined emoji one character. Without it xterm counts like
 * Unicode 6, where most emoji are narrow.
 */
export const modernWidths = {
  version: "modern",

  wcwidth(codePoint: number): 0 | 1 | 2 {
    if (codePoint < 0x7f) return codePoint < 0x20 ? 0 : 1;
    const width = fastStringWidth(String.fromCodePoint(codePoint));
    return width === 0 ? 0 : width === 2 ? 2 : 1;
  },

  charProperties(codePoint: number, before: number): number {
    const width = this.wcwidth(codePoint);
    const widthBefore = (before >> 1) & 3;
    const half = codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff;
    if (half && before >> 3 !== AFTER_HALF_FLAG) return packed(2, false, AFTER_HALF_FLAG);
    if (before === 0 || widthBefore === 0) return packed(width, false);
    if (half || isSkinTone(codePoint)) return packed(2, true);
    if (codePoint === ZWJ) return packed(widthBefore, true, AFTER_JOINER);
    if (codePoint === EMOJI_STYLE) return packed(2, true);
    if (before >> 3 === AFTER_JOINER) return packed(Math.max(width, widthBefore), true);
    return width === 0 ? packed(widthBefore, true) : packed(width, false);
  },
};

function isSkinTone(codePoint: number): boolean {
  return codePoint >= 0x1f3fb && codePoint <= 0x1f3ff;
}
