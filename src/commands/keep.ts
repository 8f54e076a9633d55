import { keepSession } from "../actions/keep.ts";
import { cleanLine, jsonText } from "../session/untrusted.ts";
import { openSession, print, type SharedOptions } from "./context.ts";

/** `forktail keep KEY [--json]`: a compressed copy of the session's files in our own state directory. */
export async function keep(options: SharedOptions, key: string): Promise<number> {
  const { place, snapshot } = await openSession(options, key);
  try {
    const { kept, unchanged, leftOut } = await keepSession(place, snapshot);
    if (options.json) {
      await print(jsonText({ schema: 1, kept, unchanged, leftOut }, 2));
      return 0;
    }
    const files = kept.files.length === 1 ? "1 file" : `${kept.files.length} files`;
    const said = unchanged
      ? `${kept.key} is kept already, as it is now, in ${kept.directory}`
      : `kept ${kept.key}: ${files} in ${kept.directory}; forktail restore ${kept.key} puts back what is missing`;
    await print([said, ...leftOut.map((why) => `left out: ${why}`)].map(cleanLine).join("\n"));
    return 0;
  } finally {
    await place.live.close();
  }
}
