// Writes assets/config.schema.json from the config's own shape. A test says when it has to be run again.
import { writeFileSync } from "node:fs";
import { configSchema } from "../src/memory/config-schema.ts";

const path = new URL("../assets/config.schema.json", import.meta.url);
writeFileSync(path, `${JSON.stringify(configSchema(), null, 2)}\n`);
