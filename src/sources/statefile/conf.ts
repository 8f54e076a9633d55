import * as z from "zod";

/** One worker the session may use, and the drives it has. */
export interface Worker {
  name: string;
  /** Directories at the same path on every worker that lists them. */
  drives: string[];
}

/** Body of the config record (statefile.md §7), of any release. */
export interface Conf {
  /** `provider/model`; the provider ends at the first slash. */
  model: string;
  tools: string;
  workers: Worker[];
  /** Tokens past which the harness refuses to step; null when missing or not above 0: then no percentage is shown. */
  context: number | null;
  /** Media types `read` hands to the model as media. */
  input: string[];
}

const worker = z.union([
  z.string().transform((name) => ({ name, drives: [] as string[] })),
  z.object({
    name: z.string(),
    drives: z
      .array(z.string())
      .nullish()
      .transform((drives) => drives ?? []),
  }),
]);

const shape = z.object({
  model: z.string().nullish(),
  tools: z.string().nullish(),
  workers: z.array(worker).nullish(),
  context: z.number().nullish(),
  context_limit: z.number().nullish(),
  input: z.array(z.string()).nullish(),
});

/** The config in a body, null when it is not one. v0.4 and later call the limit `context_limit`. */
export function parseConf(body: Buffer): Conf | null {
  return readConf(body).conf;
}

/** The config in a body, or what is wrong with it, as the end of a sentence about it. */
export function readConf(body: Buffer): { conf: Conf; problem: null } | { conf: null; problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    return { conf: null, problem: "is not JSON" };
  }
  const parsed = shape.safeParse(value);
  if (!parsed.success) {
    const place = parsed.error.issues[0]?.path.join(".") ?? "";
    return { conf: null, problem: place === "" ? "is not a JSON object" : `has a wrong ${place}` };
  }
  const limit = parsed.data.context ?? parsed.data.context_limit ?? 0;
  const conf = {
    model: parsed.data.model ?? "",
    tools: parsed.data.tools ?? "",
    workers: parsed.data.workers ?? [],
    context: limit > 0 ? limit : null,
    input: parsed.data.input ?? [],
  };
  return { conf, problem: null };
}

/** The part of `provider/model` before the first slash, empty when there is none. */
export function providerOf(model: string): string {
  const slash = model.indexOf("/");
  return slash < 0 ? "" : model.slice(0, slash);
}
