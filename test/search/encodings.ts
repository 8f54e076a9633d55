import { goJson } from "../../src/files/go-json.ts";

/** Ways in which the tools put a text into a file. */
export const ENCODINGS: Record<string, (text: string) => string> = {
  "as it is": (text) => text,
  JSON: (text) => JSON.stringify({ text }),
  "Go's JSON": (text) => goJson({ text }),
  "JSON in Go's JSON": (text) => goJson({ arguments: goJson({ text }) }),
  "ASCII only JSON": (text) => asciiJson({ text }),
  "ASCII only JSON, twice": (text) => asciiJson({ arguments: asciiJson({ text }) }),
};

function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
