/** A fenced block whose fence is longer than any run of backticks inside, so that nothing in the text can end it. */
export function fenced(text: string, language = ""): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/gu)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}
