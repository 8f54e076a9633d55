import * as z from "zod";
import { configShape } from "./config.ts";

/** The JSON schema of the config file, for editors: `assets/config.schema.json` and `forktail config --schema`. */
export function configSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(configShape, { target: "draft-07", io: "input" });
  return {
    $schema,
    title: "forktail config",
    description: "forktail/config.json in the XDG config directory; comments and trailing commas are allowed.",
    ...schema,
    allowTrailingCommas: true,
  };
}
