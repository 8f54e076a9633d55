/** The command line does not fit: exit code 2. */
export class WrongUsage extends Error {
  override name = "WrongUsage";
}
