import { foldText } from "./fold-text.ts";

/** Blocks without case and without characters that stand for others; passed over, because they are large. */
const PLAIN_BLOCKS: readonly (readonly [from: number, to: number])[] = [
  [0x3400, 0x9fff],
  [0xac00, 0xf8ff],
  [0x20000, 0x2f7ff],
];
const LAST = 0x2fa1f;
const AT_ONCE = 64;

let table: ReadonlyMap<string, readonly string[]> | null = null;

/** Folded character → the other characters whose folding holds it. Made once, when first needed: some milliseconds. */
function sources(): ReadonlyMap<string, readonly string[]> {
  if (table) return table;
  const made = new Map<string, string[]>();
  const take = (char: string): void => {
    for (const small of foldText(char)) {
      if (small !== char) made.set(small, [...(made.get(small) ?? []), char]);
    }
  };
  let group: string[] = [];
  const flush = (): void => {
    const text = group.join("\n");
    if (foldText(text) !== text) for (const char of group) if (foldText(char) !== char) take(char);
    group = [];
  };
  for (let code = 0x80; code <= LAST; code += 1) {
    const plain = PLAIN_BLOCKS.find(([from, to]) => code >= from && code <= to);
    if (plain) code = plain[1];
    else if (group.push(String.fromCodePoint(code)) === AT_ONCE) flush();
  }
  flush();
  table = made;
  return made;
}

/**
 * Every way a folded character beyond ASCII can be written in a text that folds to it: itself, capitals, characters
 * that stand for it, and each of these taken apart into base and mark. null: too many ways to list.
 */
export function rawForms(char: string): string[] | null {
  const forms = new Set<string>();
  for (const whole of [char, ...(sources().get(char) ?? [])]) {
    forms.add(whole);
    const apart = [...whole.normalize("NFD")];
    if (apart.length === 1) {
      forms.add(apart.join(""));
      continue;
    }
    const [first = "", second = "", third] = apart;
    if (third !== undefined && !isHangul(whole)) return null;
    for (const base of formsOf(first)) for (const mark of formsOf(second)) forms.add(base + mark + (third ?? ""));
    if (third !== undefined) forms.add((first + second).normalize("NFC") + third);
  }
  return [...forms];
}

function formsOf(part: string): string[] {
  return [part, ...(sources().get(part) ?? [])];
}

function isHangul(char: string): boolean {
  return /^[\uac00-\ud7a3]$/u.test(char);
}
