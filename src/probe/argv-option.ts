/** The value of an option on a command line, by any of its names: `--name value`, `--name=value`, `-n value`. */
export function argvOption(argv: readonly string[], ...names: readonly string[]): string | null {
  for (const [i, arg] of argv.entries()) {
    if (names.includes(arg)) return argv[i + 1] ?? null;
    const joined = names.find((name) => name.startsWith("--") && arg.startsWith(`${name}=`));
    if (joined !== undefined && arg.length > joined.length + 1) return arg.slice(joined.length + 1);
  }
  return null;
}
