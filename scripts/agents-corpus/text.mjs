// Text that costs nothing to make: pieces of one long prose, cut at words.
import { Seeded } from "../../src/demo/seeded.ts";

const WORDS =
  "the a of to and in is it that for on with as this not be are was by from or at have which one all has can if there when use file test error value line type name path state read write check cache index query user server client build config result session record string number list first last new old next before after between while always never parse token limit count total return const await function import export".split(
    " ",
  );
const LENGTH = 1 << 19;

const seeded = new Seeded("prose");
const prose = { text: "", code: "" };
while (prose.text.length < LENGTH) {
  prose.text += `${WORDS[seeded.below(WORDS.length)]}${seeded.next() < 0.08 ? ". " : " "}`;
}
while (prose.code.length < LENGTH) {
  const word = () => WORDS[seeded.below(WORDS.length)];
  prose.code += `${String(seeded.below(900) + 1).padStart(6)}\t${"  ".repeat(seeded.below(4))}const ${word()} = ${word()}("${word()}", ${seeded.below(100)}); // ${word()} ${word()}\n`;
}
const base64 = Buffer.from(prose.code, "latin1").toString("base64");

/** About `length` characters of words. */
export function words(random, length) {
  return piece(random, prose.text, length);
}

/** About `length` characters of numbered lines, with quotes and tabs as a file has them. */
export function code(random, length) {
  return piece(random, prose.code, length);
}

/** A picture's bytes in base64, as long as wanted. */
export function picture(random, length) {
  return `iVBORw0KGgo${piece(random, base64, length)}`;
}

/** Most results of tools are short; one in a dozen is a whole file, one in a hundred a log. */
export function resultLength(random, brief) {
  if (brief) return 80 + random.below(1000);
  const draw = random.next();
  if (draw < 0.01) return 60_000 + random.below(140_000);
  if (draw < 0.09) return 8000 + random.below(24_000);
  return 80 + random.below(3000);
}

export function uuid(random) {
  const part = () =>
    Math.floor(random.next() * 0x100000000)
      .toString(16)
      .padStart(8, "0");
  const [a, b, c, d] = [part(), part(), part(), part()];
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-a${c.slice(1, 4)}-${c.slice(4)}${d}`;
}

function piece(random, from, length) {
  let text = "";
  while (text.length < length) {
    const at = random.below(from.length - 64);
    text += from.slice(at, at + length - text.length);
  }
  return text;
}
