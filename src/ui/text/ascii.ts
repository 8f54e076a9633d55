/** Signs that sentences and layouts of ours use, each by one ASCII sign of the same width, so that no column moves. */
const PLAIN: Record<string, string> = {
  "…": "~",
  "·": "-",
  "•": "*",
  "–": "-",
  "—": "-",
  "→": ">",
  "←": "<",
  "↑": "^",
  "↓": "v",
  "≥": ">",
  "❯": ">",
  "“": '"',
  "”": '"',
  "‘": "'",
  "’": "'",
  "×": "x",
  "▇": "#",
  "▏": ".",
};

const SIGNS = new RegExp(`[${Object.keys(PLAIN).join("")}]`, "gu");

/** A text for a terminal whose font or locale has ASCII only. What a session itself says in other scripts stays as it is. */
export function asciiText(text: string): string {
  return text.replace(SIGNS, (sign) => PLAIN[sign] ?? sign);
}
