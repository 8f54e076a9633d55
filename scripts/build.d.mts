export interface BuildOptions {
  /** The source tree. */
  root?: string;
  outdir?: string;
  /** Also the declarations of the libraries. */
  types?: boolean;
}

/** Bundles the program and its libraries. Throws when something cannot be bundled. */
export function buildAll(options?: BuildOptions): Promise<{ outdir: string; files: string[] }>;
